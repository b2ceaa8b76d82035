import { defineConfig } from 'vitest/config'

/** For `npm run screenshots`, which takes the pictures of the README from a filled service. */
export default defineConfig({
  test: {
    include: ['test/screenshots/**/*.shots.ts'],
    root: `${import.meta.dirname}/../..`,
    globalSetup: ['test/global.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
