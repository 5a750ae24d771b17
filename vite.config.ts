/** Builds `dist`: one bundle per public entry, dependencies left outside. Declarations come from `tsc`. */
import { existsSync } from "node:fs";
import { defineConfig } from "vite";

const entries = {
  index: "src/index.ts",
  machines: "machines/index.ts",
  testing: "src/testing/index.ts",
  openai: "src/openai.ts",
  "ai-sdk": "src/ai-sdk.ts",
  tokenizer: "src/tokenizer.ts",
  cli: "src/cli/main.ts",
};

export default defineConfig({
  build: {
    target: "node22",
    outDir: "dist",
    emptyOutDir: true,
    minify: false,
    lib: {
      entry: Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(file))),
      formats: ["es"],
    },
    rollupOptions: {
      external: [/^node:/, /^(xstate|zod|immer|openai|commander|gpt-tokenizer)(\/|$)/],
      output: { entryFileNames: "[name].js", chunkFileNames: "chunks/[name].js" },
    },
  },
});
