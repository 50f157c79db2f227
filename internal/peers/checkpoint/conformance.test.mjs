import { deltaChannelHistoryTests, specTest } from "@langchain/langgraph-checkpoint-validation";
import { BridgedSaver } from "./saver.mjs";

const initializer = {
  checkpointerName: "langrooms",
  createCheckpointer: () => new BridgedSaver(),
  destroyCheckpointer: (saver) => saver.end(),
};
specTest(initializer);
deltaChannelHistoryTests(initializer);
