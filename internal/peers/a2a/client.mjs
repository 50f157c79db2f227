// A client on @a2a-js/sdk for the tests of the A2A server: node client.mjs URL. It tells its
// stories over 1.0 JSON-RPC, 1.0 HTTP+JSON and 0.3 JSON-RPC, prints "ok NAME" for each that ends
// well, and ends with status 1 when one does not. The server has the demo's roster.
import { Role, TaskState } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

const url = process.argv[2];
const legacyCompat = { enabled: true };
const card = await new DefaultAgentCardResolver({ legacyCompat }).resolve(url);
const ask = (words, contextId = '') => ({
  tenant: '', metadata: undefined, configuration: undefined,
  message: {
    messageId: randomUUID(), contextId, taskId: '', role: Role.ROLE_USER, metadata: undefined, extensions: [], referenceTaskIds: [],
    parts: [{ content: { $case: 'text', value: words }, metadata: undefined, filename: '', mediaType: 'text/plain' }],
  },
});
const said = (artifact) => artifact.parts.map((p) => p.content.value).join('');
// 1.0 answers with a payload around the task, 0.3 with the task.
const taskOf = (result) => result.task ?? result.payload?.value ?? result;

let failed = false;
async function story(name, tell) {
  try {
    await tell();
    console.log(`ok ${name}`);
  } catch (err) {
    failed = true;
    console.log(`FAILED ${name}: ${err.stack}`);
  }
}

for (const [binding, version] of [['JSONRPC', '1.0'], ['HTTP+JSON', '1.0'], ['JSONRPC', '0.3']]) {
  const own = card.supportedInterfaces.filter((i) => i.protocolBinding === binding && i.protocolVersion === version);
  const client = await new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ legacyCompat }), new RestTransportFactory({ legacyCompat })],
  })).createFromAgentCard({ ...card, supportedInterfaces: own });
  const on = (what) => `${what}, ${version} ${binding}`;
  let task;
  await story(on('a member answers under its name'), async () => {
    task = taskOf(await client.sendMessage(ask('@oracle what broke?')));
    assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
    assert.equal(task.artifacts[0].name, 'oracle');
    assert.ok(said(task.artifacts[0]).length > 0);
  });
  await story(on('the task is looked at again'), async () => {
    const again = await client.getTask({ id: task.id, tenant: '', historyLength: undefined });
    assert.deepEqual(again.artifacts.map(said), task.artifacts.map(said));
    assert.equal(again.contextId, task.contextId);
  });
  await story(on('a stream ends with the task'), async () => {
    const states = [];
    let words = '';
    for await (const event of client.sendMessageStream(ask('@oracle and now?', task.contextId))) {
      const { $case, value } = event.payload ?? {};
      if ($case === 'artifactUpdate') words += said(value.artifact);
      if ($case === 'statusUpdate') states.push(value.status.state);
    }
    assert.ok(words.length > 0);
    assert.equal(states.at(-1), TaskState.TASK_STATE_COMPLETED);
  });
  await story(on('what is not there is refused'), async () => {
    await assert.rejects(client.getTask({ id: 'none', tenant: '', historyLength: undefined }), /not found/i);
    await assert.rejects(client.sendMessage(ask('hi', 'none')), /no such context/);
    await assert.rejects(client.cancelTask({ id: task.id, tenant: '', metadata: undefined }));
  });
}
process.exit(failed ? 1 : 0);
