// Made from the document that is served as /openapi.json: go test ./cmd/langrooms -run TestOpenAPI -update

export interface Assistant {
  assistant_id: string;
  config: Record<string, unknown>;
  context: Record<string, unknown>;
  created_at: string;
  description: string | null;
  graph_id: string;
  metadata: Record<string, unknown>;
  name: string;
  updated_at: string;
  version: number;
}

export interface Awaited {
  waiting: Waiting[];
}

export interface Block {
  data?: string;
  image_url?: unknown;
  mime_type?: string;
  text?: string;
  type: string;
}

export interface Checkpoint {
  checkpoint_id: string;
  checkpoint_map: Record<string, unknown> | null;
  checkpoint_ns: string;
  thread_id: string;
}

export interface Closing {
  already_closed: boolean;
  closed: boolean;
  room_id: string;
  stop_reason: string;
}

export interface Compacted {
  replaced: number;
}

export type Content = string | Block[];

export interface Costs {
  members: Record<string, Spending>;
  total: Spending;
}

export interface Delegate {
  description: string;
  name: string;
  type: string;
}

export interface DelegateEntry {
  hidden: string[];
  name: string;
  type: string;
  values: Record<string, string>;
  version: string;
}

export interface DelegateType {
  fields: Field[];
  type: string;
}

export interface DelegateTypes {
  types: DelegateType[];
  version: string;
}

export interface Detail {
  code: string;
  message: string;
}

export interface Field {
  ceiling?: number;
  choices?: string[];
  default?: unknown;
  group: string;
  help: string;
  key: string;
  kind: string;
  knob?: boolean;
  least?: number;
  live: boolean;
  required?: boolean;
  types?: string[];
  unit?: string;
}

export interface File {
  bytes: number;
  from: string;
  message: string;
  n: number;
  name: string;
  time: string;
  type: string;
}

export interface FileList {
  files: File[];
}

export interface Finding {
  column: number;
  file: string;
  key: string;
  line: number;
  message: string;
  severity: string;
}

export interface Found {
  author: string;
  excerpt: string;
  kind: "thread" | "room";
  message_id: string;
  thread_id: string;
  time: string;
}

export interface GivenAnswer {
  answer?: string;
  by?: string;
  choices?: string[];
  id: string;
  kind?: string;
  title?: string;
}

export interface Imported {
  messages: number;
}

export interface Mentions {
  group?: "all" | "others";
  kind: "lead" | "addressed" | "unknown" | "empty";
  near?: string;
  offers: Delegate[];
  to: string[];
  token?: string;
}

export interface Participant {
  joined_at: string;
  kind: "agent" | "user";
  left_at: string | null;
  name: string;
  read_seq: number;
  role: "moderator" | "member" | "observer" | "scribe";
}

export interface Party {
  kind: "agent" | "user";
  name: string;
}

export interface Posted {
  added: string[];
  mentions: string[];
  messages?: RoomMessage[];
  replayed: boolean;
  room_id: string;
  seq: number;
  unresolved: string[];
  wakes: Wake[];
}

export interface Probe {
  detail?: string;
  kind?: string;
  latency_ms: number;
  ok: boolean;
  protocol?: string;
  version?: string;
}

export interface Question {
  choices: string[];
  id: string;
  kind: string;
  member: string;
  since: string;
  title: string;
}

export interface Questions {
  questions: Question[];
}

export interface Refusal {
  detail: Detail;
}

export interface Removed {
  removed: string;
  version: string;
}

export interface Rewound {
  removed: number;
}

export interface Room {
  agents: string[];
  budget_used: number;
  closed_at: string | null;
  cost_known: boolean;
  cost_usd: number;
  created_at: string;
  created_by: Party;
  expires_at: string | null;
  head_seq: number;
  id: string;
  last_message_at: string | null;
  max_cost_usd: number | null;
  max_messages: number;
  message_count: number;
  name: string;
  participant_count: number;
  role: "moderator" | "member" | "observer" | "scribe" | null;
  status: "open" | "closed";
  stop_reason: string | null;
  summary: string | null;
  topic: string | null;
  ttl_hours: number;
  unread: number;
  unread_mentions: number;
}

export interface RoomDetail {
  agents: string[];
  budget_used: number;
  closed_at: string | null;
  cost_known: boolean;
  cost_usd: number;
  created_at: string;
  created_by: Party;
  expires_at: string | null;
  has_more: boolean;
  head_seq: number;
  id: string;
  last_message_at: string | null;
  max_cost_usd: number | null;
  max_messages: number;
  message_count: number;
  messages: RoomMessage[];
  name: string;
  participant_count: number;
  participants: Participant[];
  role: "moderator" | "member" | "observer" | "scribe" | null;
  status: "open" | "closed";
  stop_reason: string | null;
  summary: string | null;
  topic: string | null;
  ttl_hours: number;
  unread: number;
  unread_mentions: number;
  working: Working[];
}

export interface RoomMessage {
  content: string;
  cost_usd: number | null;
  created_at: string;
  failed: boolean;
  id: string;
  in_reply_to: number | null;
  kind: "message" | "system";
  late: boolean;
  mentions: string[];
  sender: Party | null;
  seq: number;
  wake: string | null;
}

export interface RoomRefusal {
  detail: RoomRefused;
}

export interface RoomRefused {
  code: string;
  message: string;
  stop_reason?: string;
}

export interface Rooms {
  next: string | null;
  rooms: Room[];
}

export interface Roster {
  delegates: Delegate[];
}

export interface Run {
  assistant_id: string;
  created_at: string;
  kwargs: Record<string, unknown>;
  metadata: Record<string, unknown>;
  multitask_strategy: string;
  run_id: string;
  status: "pending" | "running" | "success" | "error" | "interrupted";
  thread_id: string;
  updated_at: string;
}

export interface Searched {
  found: Found[];
  more: boolean;
}

export interface Settings {
  faults: Finding[];
  in_force: Record<string, unknown>;
  path: string;
  schema: Field[];
  version: string;
  written: Record<string, string>;
}

export interface Spending {
  answers: number;
  cost_usd: number;
  input_tokens: number;
  output_tokens: number;
  unknown_cost?: number;
  unknown_tokens?: number;
}

export interface Stopped {
  runs: string[];
}

export interface Thread {
  config: Record<string, unknown>;
  created_at: string;
  interrupts: Record<string, unknown>;
  metadata: Record<string, unknown>;
  status: string;
  thread_id: string;
  updated_at: string;
  values?: ThreadValues;
}

export interface ThreadMessage {
  additional_kwargs: Record<string, unknown>;
  content: Content;
  id: string;
  invalid_tool_calls?: ToolCall[];
  name?: string;
  response_metadata: Record<string, unknown>;
  status?: string;
  tool_call_id?: string;
  tool_calls?: ToolCall[];
  type: "human" | "ai" | "tool" | "system";
  usage_metadata?: UsageMetadata;
}

export interface ThreadRefusal {
  detail: string;
}

export interface ThreadState {
  checkpoint: Checkpoint | null;
  created_at: string | null;
  metadata: Record<string, unknown>;
  next: string[];
  parent_checkpoint: Checkpoint | null;
  tasks: unknown[];
  values: ThreadValues;
}

export interface ThreadValues {
  messages: ThreadMessage[];
}

export interface Title {
  agents: string[];
  thread_id: string;
  title: string;
}

export interface Titled {
  titles: Title[];
}

export interface ToolCall {
  args: Record<string, unknown>;
  id: string;
  name: string;
  type: string;
}

export interface Uncompacted {
  restored: number;
}

export interface UsageMetadata {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
}

export interface Waiting {
  member: string;
  since: string;
  task: string;
}

export interface Wake {
  agent: string;
  id: string;
  state: "queued" | "running" | "done" | "passed" | "failed" | "stopped" | "dropped";
}

export interface Withdrawn {
  withdrawn: string;
}

export interface Working {
  agent: string;
  since: string;
  state: "queued" | "running" | "done" | "passed" | "failed" | "stopped" | "dropped";
  wake: string;
}
