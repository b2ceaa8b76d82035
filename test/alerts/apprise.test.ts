import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { startAlertService, type AlertService } from '../servers/alert-service.ts'

const APPRISE = '/usr/bin/apprise'
const run = promisify(execFile)

/** Apprise’s URL of each fake; hosted services have addresses that it cannot change. */
const URLS: Record<string, (host: string) => string> = {
  gotify: (host) => `gotify://${host}/AbCdEfGhIjKlMn.`,
  mattermost: (host) => `mmost://${host}/xxgenerated1key2`,
  rocketchat: (host) => `rocket://64f1c0ffee%2FAbCdEfGhIjKlMnOp@${host}?format=text`,
  apprise: (host) => `apprise://${host}/apprise/team-key`,
}

let service: AlertService
afterEach(() => service.close())

/**
 * Shows that the fakes accept what another program sends, so that they are no stricter than the
 * services in what both of them have.
 */
describe.skipIf(!existsSync(APPRISE))('Apprise, where Debian’s package is installed', () => {
  it.each(Object.keys(URLS))(
    'sends to the fake of %s',
    async (id) => {
      service = await startAlertService(id)
      const url = URLS[id]?.(new URL(service.origin).host) ?? ''
      await run(APPRISE, ['-vv', '-t', 'Title of it', '-b', 'Body of it', url], { timeout: 30_000 })
      expect(service.violations).toEqual([])
      expect(service.shown.join()).toContain('Body of it')
    },
    40_000,
  )
})
