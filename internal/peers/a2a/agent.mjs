// An agent on @a2a-js/sdk for the A2A tests. It serves the same executor three times, each
// on a port of its own: 1.0 over JSON-RPC, 1.0 over HTTP+JSON, and 0.3 over JSON-RPC. It
// prints one JSON line with the URLs and ends when its standard input does.
//
// The first word of a message says what it does: "message" answers with a message, "task"
// completes a task, "count" says how many messages its context has seen, "ask" pauses for
// input, "slow" works until it is canceled, "fail" fails.
import { TaskState, Role } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import express from 'express';
import { randomUUID } from 'node:crypto';

const text = (value) => ({ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' });

class Executor {
  #canceled = new Map();
  #seen = new Map();

  async execute({ userMessage, taskId, contextId, task }, bus) {
    const said = userMessage.parts.map((p) => (p.content?.$case === 'text' ? p.content.value : '')).join('');
    const [word, ...rest] = said.split(' ');
    const words = rest.join(' ');
    const message = (value) => ({
      messageId: randomUUID(), contextId, taskId, role: Role.ROLE_AGENT, parts: [text(value)],
      metadata: undefined, extensions: [], referenceTaskIds: [],
    });
    const status = (state, value) => bus.publish(AgentEvent.statusUpdate({
      taskId, contextId, metadata: undefined,
      status: { state, message: value ? message(value) : undefined, timestamp: new Date().toISOString() },
    }));
    const artifact = (value, append) => bus.publish(AgentEvent.artifactUpdate({
      taskId, contextId, append, lastChunk: false, metadata: undefined,
      artifact: { artifactId: 'answer', name: '', description: '', parts: [text(value)], metadata: undefined, extensions: [] },
    }));
    this.#seen.set(contextId, (this.#seen.get(contextId) ?? 0) + 1);
    if (word === 'message') {
      bus.publish(AgentEvent.message({ ...message(words), taskId: '' }));
      bus.finished();
      return;
    }
    bus.publish(AgentEvent.task(task ?? {
      id: taskId, contextId, history: [userMessage], artifacts: [], metadata: undefined,
      status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() },
    }));
    status(TaskState.TASK_STATE_WORKING, 'thinking');
    if (task) {
      artifact(`you said ${said}`, false);
      status(TaskState.TASK_STATE_COMPLETED);
    } else if (word === 'task') {
      for (const [i, piece] of words.split(/(?= )/).entries()) artifact(piece, i > 0);
      status(TaskState.TASK_STATE_COMPLETED);
    } else if (word === 'count') {
      artifact(String(this.#seen.get(contextId)), false);
      status(TaskState.TASK_STATE_COMPLETED);
    } else if (word === 'ask') {
      status(TaskState.TASK_STATE_INPUT_REQUIRED, words);
    } else if (word === 'slow') {
      await new Promise((resolve) => this.#canceled.set(taskId, resolve));
      status(TaskState.TASK_STATE_CANCELED);
    } else {
      status(TaskState.TASK_STATE_FAILED, words);
    }
    bus.finished();
  }

  cancelTask = async (taskId) => this.#canceled.get(taskId)?.();
}

async function serve(binding, version, mount) {
  const app = express();
  const server = await new Promise((resolve) => { const s = app.listen(0, '127.0.0.1', () => resolve(s)); });
  const url = `http://127.0.0.1:${server.address().port}/a2a`;
  const card = {
    name: 'js', description: 'an agent of the tests', version: '1.3.0', provider: undefined,
    supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: version, tenant: '' }],
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
    skills: [], signatures: [],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());
  const legacyCompat = { enabled: version === '0.3' };
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
  app.use('/a2a', mount(options));
  return url;
}

console.log(JSON.stringify({
  v1: await serve('JSONRPC', '1.0', jsonRpcHandler),
  rest: await serve('HTTP+JSON', '1.0', restHandler),
  v03: await serve('JSONRPC', '0.3', jsonRpcHandler),
}));
process.stdin.resume().on('end', () => process.exit(0));
