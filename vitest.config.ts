import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'

// Every service that a test starts as a process of its own loads the same source: compiled once, it starts in half the time.
const NODE_COMPILE_CACHE = join(import.meta.dirname, 'node_modules/.cache/compile')

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Most tests wait for a real server rather than compute: more of them than there are processors.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/global.ts'],
    setupFiles: ['test/answers.ts'],
    env: { NODE_COMPILE_CACHE },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
})
