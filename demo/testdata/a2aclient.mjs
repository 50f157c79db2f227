// Drives an A2A agent with the JavaScript SDK: origin and key come from the environment,
// what the stream and a plain call bring goes to standard output, a JSON value a line.
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { Role } from '@a2a-js/sdk';

const { ORIGIN, KEY } = process.env;
const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
  transports: [new JsonRpcTransportFactory()],
}));
const client = await factory.createFromUrl(ORIGIN);
const options = { serviceParameters: { Authorization: `Bearer ${KEY}` } };
const request = () => ({
  tenant: '',
  message: {
    messageId: crypto.randomUUID(), contextId: '', taskId: '', role: Role.ROLE_USER,
    parts: [{ content: { $case: 'text', value: 'what is new?' }, metadata: undefined, filename: '', mediaType: 'text/plain' }],
    metadata: undefined, extensions: [], referenceTaskIds: [],
  },
  configuration: undefined,
  metadata: undefined,
});
for await (const event of client.sendMessageStream(request(), options)) {
  console.log(JSON.stringify({ stream: event }));
}
console.log(JSON.stringify({ plain: await client.sendMessage(request(), options) }));
