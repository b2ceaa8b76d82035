import { defineConfig } from 'vitest/config'
import { BrowserFirst } from './test/browser-first.ts'
import { CountLine } from './test/count-line.ts'
import { prepareEnvironment } from './test/environment.ts'

prepareEnvironment()

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'service',
          include: ['test/**/*.test.ts'],
          exclude: ['test/web/**', 'test/openapi-client/**'],
          // Node runs the sources as a service does: nothing is transformed.
          experimental: { viteModuleRunner: false },
        },
      },
      // The dashboard’s sources have JSX, which Node does not run.
      { extends: true, test: { name: 'web', include: ['test/web/**/*.test.ts'] } },
    ],
    // Most tests wait for a real server rather than compute: more of them than there are processors.
    maxWorkers: 4,
    // Most objects of a test die young: larger spaces for them are collected less often. The sources
    // that a worker has loaded never die: all of them are marked again less often.
    execArgv: ['--max-semi-space-size=32', '--heap-growing-percent=300'],
    // The modules of the service are loaded once per worker instead of once per file, which saves a
    // third of the processor time of files that start a service.
    isolate: false,
    sequence: { sequencer: BrowserFirst },
    reporters: ['default', new CountLine()],
    globalSetup: ['test/global.ts'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
