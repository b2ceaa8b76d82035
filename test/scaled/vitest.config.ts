import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { CountLine } from '../count-line.ts'
import { prepareEnvironment } from '../environment.ts'

const root = join(import.meta.dirname, '../..')

prepareEnvironment()

const BY_ITS_OWN_CLOCK = 'moves the clock of its own process'

/**
 * Tests with a service, by path prefix, that do not run against three instances, with the reason.
 */
const WITHOUT: Record<string, string> = {
  'test/accounts/identify': 'asks the function that identifies people, not a service',
  'test/abuse/export': BY_ITS_OWN_CLOCK,
  'test/abuse/people': BY_ITS_OWN_CLOCK,
  'test/abuse/report': BY_ITS_OWN_CLOCK,
  'test/abuse/time': BY_ITS_OWN_CLOCK,
  'test/clients/crowdsec': 'takes connections from network namespaces in its own process',
  'test/clients/fleet': 'takes connections from network namespaces in its own process',
  'test/browser/mail-tests': 'listens for SMTP at one port',
  'test/deliverability/postfix': 'listens for SMTP at one port',
  'test/deliverability/canary': 'runs the jobs of a service in its own process',
  'test/deliverability/complaints': 'listens for SMTP at one port',
  'test/deliverability/provider-statistics': 'hands fakes of services to its own process',
  'test/deliverability/snds-sign-in': 'hands fakes of services to its own process',
  'test/browser/provider-statistics': 'hands fakes of services to its own process',
  'test/deliverability/mail-tests': 'listens for SMTP at one port',
  'test/delisting/': BY_ITS_OWN_CLOCK,
  'test/monitoring/': 'looks every few milliseconds, where a service looks every few minutes',
  'test/browser/alert-channels': 'hands fakes of services to its own process',
  'test/browser/reconnect': 'stops and starts its own process',
  'test/browser/undo': 'stops and starts its own process',
  'test/dmarc/domains': 'answers the questions about domains from a table in its own process',
  'test/http/access': 'reads the routes that its own process registers',
  'test/http/schemas': 'reads the routes that its own process registers',
  'test/deploy/metrics': 'metrics are of one instance, each at an address of its own',
}

/** What starts a service: the whole service, or one module of it. */
const SPEAKS_TO_A_SERVICE = /from '(?:\.\.?\/)+(?:service|(?:\w+\/)?module|mail-place)\.ts'/

/**
 * `npm run test:scaled`: every HTTP test of a service, with three instances behind nginx in its
 * place.
 */
export default defineConfig({
  test: {
    root,
    include: globSync('test/**/*.test.ts', { cwd: root }).filter(isBlackBox),
    reporters: ['default', new CountLine()],
    maxWorkers: 3,
    globalSetup: ['test/global.ts'],
    setupFiles: ['test/setup.ts'],
    env: { PORTREEVE_SCALED: '1' },
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})

function isBlackBox(file: string): boolean {
  const isLeftOut = Object.keys(WITHOUT).some((start) => file.startsWith(start))
  return !isLeftOut && SPEAKS_TO_A_SERVICE.test(readFileSync(join(root, file), 'utf8'))
}
