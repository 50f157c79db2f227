import { defineConfig } from "vite";

// The assets are committed and compared, so nothing in them may depend on the machine.
export default defineConfig({
  base: "/",
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    sourcemap: false,
    chunkSizeWarningLimit: 400,
  },
  server: { proxy: Object.fromEntries(["/threads", "/assistants", "/api", "/info", "/signin", "/signout"].map((p) => [p, process.env.LANGROOMS || "http://127.0.0.1:8080"])) },
});
