import { execFileSync, spawn } from 'node:child_process'
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
    // Vitest sets NODE_ENV, with which the build would contain the development version of React.
    const env = { ...process.env, NODE_ENV: 'production' }
    execFileSync('npm', ['run', '--silent', 'build:web'], { stdio: 'inherit', env })
    const suites = ['test/browser', 'test/exchange/federation', 'test/webhooks/browser']
    const child = spawn(process.execPath, [VITEST, 'run', ...suites, '--maxWorkers=2'], {
      env: { ...process.env, PORTREEVE_TEST_PATH: '/portreeve' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
    const [counts = 'no tests'] = /\d+ passed, \d+ failed, \d+ skipped/.exec(output) ?? []
    figure(
      'the tests of the dashboard, of captures in a browser and of federation run with BASE_URL=…/portreeve',
      counts,
    )
    expect(child.exitCode, output.slice(-20_000)).toBe(0)
  },
  MINUTES * 60_000,
)
