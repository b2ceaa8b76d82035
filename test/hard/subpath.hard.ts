import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { figure } from './figures.ts'

const VITEST = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs')
const MINUTES = 50

it(
  'the dashboard passes all of its tests below a path',
  async () => {
    const suites = ['test/browser', 'test/abuse/federation']
    const child = spawn(process.execPath, [VITEST, 'run', ...suites, '--maxWorkers=2'], {
      env: { ...process.env, PORTREEVE_TEST_PATH: '/portreeve' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
    const [counts = 'no tests'] = /\d+ passed, \d+ failed, \d+ skipped/.exec(output) ?? []
    figure('the tests of the dashboard and of federation run with BASE_URL=…/portreeve', counts)
    expect(child.exitCode, output.slice(-20_000)).toBe(0)
  },
  MINUTES * 60_000,
)
