import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

/** A screen in one state. */
export type Screen = {
  /** Its address. Parts that begin with `:` are ids of what `screen-data.ts` makes. */
  at: string
  /**
   * Words of the state that axe checks. Without them, axe checks the screen in another state, or in
   * the test of its module.
   */
  shows?: string
  /** Actions after each of which axe checks the screen again. */
  acts?: ((page: Page) => Promise<void>)[]
  /** Expected browser messages. */
  except?: RegExp
}

/** Screens before the first account exists. */
export const AT_FIRST: Screen[] = [
  { at: '/', shows: 'Keep your mail' },
  { at: '/setup', shows: 'Create your admin account' },
  {
    at: '/setup?with=link#token',
    shows: 'Create your admin account',
    acts: [(page) => page.getByRole('button', { name: 'Create account' }).click()],
  },
]

/** Screens that need no session. */
export const PUBLIC: Screen[] = [
  { at: '/' },
  { at: '/sign-in', shows: 'Sign in' },
  { at: '/sign-up', shows: 'This link is incomplete' },
  { at: '/sign-up?with=link#token', shows: 'Confirm your account' },
  { at: '/forgot-password' },
  { at: '/reset-password' },
  // It closes the tab that a script opened, which this one is not.
  { at: '/signed-in', shows: 'Close this tab', except: /may close only the windows/ },
  { at: '/invitation', shows: 'This link is incomplete' },
  { at: '/address', shows: 'Listing rules' },
  { at: '/network', shows: 'Report attacks from your server' },
  { at: '/shared/:shared', shows: 'Check of example.com' },
  { at: '/shared-mail-tests/:sharedMailTest', shows: 'Requirements of receivers' },
  { at: '/shared-webhook-requests/:sharedRequest', shows: 'The body isn’t shared.' },
  { at: '/nothing/here', shows: 'Page not found' },
]

/** Screens of an account without data, on a service that sends no email. */
export const EMPTY: Screen[] = [
  { at: '/domains', shows: 'Type a domain to see everything' },
  { at: '/check', shows: 'Domain, IP address, URL or email address' },
  {
    at: '/check?q=example.test',
    shows: 'The name resolves',
    // Addresses for documentation are never contacted.
    except: /status of 403/,
    acts: [(page) => page.getByText('API', { exact: true }).last().click()],
  },
  { at: '/workspace/members', shows: 'Invite another member first.' },
  {
    at: '/workspace/invitations',
    shows: 'No open invitations.',
    acts: [(page) => page.getByRole('button', { name: 'Create invitation' }).click()],
  },
  { at: '/mail-tests', shows: 'No mail tests yet' },
  { at: '/dmarc', shows: 'Choose report files' },
  { at: '/dmarc/:domain', shows: 'No messages reported yet' },
  { at: '/dmarc/:domain/reports', shows: 'No matches' },
  { at: '/dmarc/:domain/sources/192.0.2.1', shows: 'No messages from this source in this period.' },
  { at: '/dmarc/:domain/tls', shows: 'v=TLSRPTv1' },
  { at: '/delisting', shows: 'No delistings yet' },
  {
    at: '/alerts',
    shows: 'No alerts are muted.',
    acts: [(page) => page.getByRole('button', { name: 'Mute a topic' }).click()],
  },
  { at: '/alerts/history', shows: 'This service can’t send email.' },
  {
    at: '/alerts/channels',
    shows: 'Email not configured',
    acts: [(page) => page.getByRole('button', { name: 'Edit' }).click()],
  },
  {
    at: '/alerts/rules',
    shows: 'No rules yet',
    acts: [
      (page) => page.getByLabel('Quiet hours').check(),
      (page) => page.getByLabel('Escalation').check(),
      (page) => page.getByRole('button', { name: 'Show channels' }).click(),
    ],
  },
  { at: '/attacks', shows: 'No reports yet' },
  { at: '/attacks/servers', shows: 'No servers yet' },
  { at: '/attacks/mails', shows: 'This service does not send email.' },
  { at: '/attacks/networks', shows: 'No networks yet' },
  { at: '/hooks/:waiting', shows: 'Waiting for the first request' },
]

/** Screens about domains, hosts and addresses, of an account with a week of everything. */
export const MAIL: Screen[] = [
  {
    at: '/home',
    shows: 'Monitored hosts',
    acts: [(page) => page.getByText('Watched domains').waitFor()],
  },
  { at: '/domains' },
  { at: '/domains/example.test', shows: 'example.test', except: /status of 4\d\d/ },
  { at: '/domains/first-check.test', except: /status of 4\d\d/ },
  { at: '/domains/example.test/deliverability', shows: 'Your order' },
  { at: '/mail-tests', shows: 'Your order' },
  {
    at: '/mail-tests/:mailTest',
    shows: 'Requirements of receivers',
    acts: [(page) => page.getByText(/checks not checked/).click()],
  },
  { at: '/check' },
  { at: '/check?q=example.test', except: /status of [45]\d\d/ },
  { at: '/dmarc' },
  { at: '/dmarc/rejected', shows: 'No rejected reports' },
  { at: '/dmarc/mailboxes', shows: 'Add a mailbox' },
  { at: '/dmarc/:domain' },
  { at: '/dmarc/:domain/sources/192.0.2.10' },
  { at: '/addresses/192.0.2.10', except: /status of 4\d\d/ },
  { at: '/dmarc/:domain/reports' },
  { at: '/dmarc/:domain/reports/:report' },
  { at: '/dmarc/:domain/tls' },
  { at: '/dmarc/:domain/record', shows: 'Ownership' },
  { at: '/monitoring', shows: 'outgoing mail' },
  { at: '/monitoring/lists', shows: 'SpamCop' },
  { at: '/monitoring/:host', shows: 'Change log' },
  { at: '/monitoring/:host/settings', shows: 'SpamCop' },
  { at: '/delisting' },
  { at: '/delisting/new' },
  { at: '/delisting/new?ip=8.8.4.4', shows: 'Cause of the listing' },
  { at: '/delisting/:delisting' },
  { at: '/alerts' },
  { at: '/alerts/history' },
  { at: '/alerts/channels' },
  { at: '/alerts/channels/new', shows: 'Microsoft Teams' },
  { at: '/alerts/channels/new/ntfy', shows: 'Topic' },
  { at: '/alerts/channels/guide/ntfy', shows: 'End of a problem' },
  { at: '/alerts/rules' },
  // The script that records shifts is kept out of the preview.
  { at: '/alerts/digest', except: /^Blocked script execution in .*digest\/preview/ },
]

/** Screens about webhooks, migrations, attacks and administration, of an account with data. */
export const TOOLS: Screen[] = [
  { at: '/hooks', shows: 'shop orders' },
  {
    at: '/hooks/:hook',
    shows: '14 requests',
    acts: [
      async (page) => {
        await page.getByRole('option', { name: '/a/long/path' }).click()
        await page.getByText('"hello"', { exact: true }).waitFor()
      },
      ...['Headers', 'Query', 'Compare'].map(
        (name) => (page: Page) => page.getByRole('tab', { name }).click(),
      ),
    ],
  },
  { at: '/hooks/:hook/settings', shows: 'Settings for shop orders' },
  {
    at: '/hooks/:hook/destinations',
    shows: 'No destinations yet',
    acts: [(page) => page.getByText('More settings').click()],
  },
  {
    at: '/hooks/:hook/rules',
    shows: 'unavailable twice',
    acts: [
      (page) => page.getByRole('button', { name: 'Edit unavailable twice' }).click(),
      (page) => page.getByRole('button', { name: 'Check the newest request' }).click(),
    ],
  },
  { at: '/migrations', shows: 'somebody.with.a.long.name' },
  {
    at: '/migrations/new',
    shows: 'Source mailbox',
    acts: [
      async (page) => {
        await page.getByText('Port and security').click()
        await page.getByRole('button', { name: 'Test and list folders' }).click()
      },
    ],
  },
  { at: '/migrations/sign-ins', shows: 'Add a sign-in for all mailboxes' },
  { at: '/migrations/batches' },
  { at: '/migrations/batches/new' },
  { at: '/migrations/batches/:batch' },
  { at: '/migrations/batches/:batch/proof' },
  { at: '/migrations/:migration', shows: 'Retry failed messages' },
  { at: '/migrations/:migration/proof' },
  { at: '/attacks' },
  { at: '/attacks/servers' },
  { at: '/attacks/fleet', shows: 'No banned addresses' },
  { at: '/attacks/list' },
  { at: '/attacks/list?format=nftables', shows: 'Replaces two sets' },
  { at: '/attacks/connect', shows: 'Create token and key' },
  { at: '/attacks/feeds', shows: 'Hijacked networks.' },
  { at: '/attacks/relays', shows: 'AbuseIPDB' },
  { at: '/attacks/mails' },
  { at: '/attacks/networks' },
  { at: '/attacks/networks/:network' },
  { at: '/attacks/federation', shows: 'No peers yet' },
  { at: '/attacks/administration' },
  {
    at: '/tokens',
    shows: 'Your tokens',
    acts: [
      async (page) => {
        await page.getByLabel('Token name').fill('axe')
        await page.getByRole('button', { name: 'Create token' }).click()
        await page.getByText('Token “axe” created').waitFor()
      },
      (page) => page.getByRole('button', { name: 'Revoke tests' }).click(),
    ],
  },
  { at: '/workspace', shows: 'Workspace name' },
  { at: '/workspace/members' },
  { at: '/workspace/invitations' },
  { at: '/workspace/audit', shows: 'kept for 400 days' },
  { at: '/workspaces', shows: 'Your workspaces' },
  { at: '/account', shows: 'in use now' },
  { at: '/administration', shows: 'Health checks' },
  { at: '/administration/accounts', shows: 'New account' },
  { at: '/administration/workspaces', shows: 'Storage' },
  { at: '/administration/mail-providers', shows: 'Redirect URI' },
  { at: '/administration/audit', shows: 'kept for 400 days' },
]

/** The screens that are loaded and measured at each width: every route must be among them. */
const MEASURED = [...AT_FIRST, ...PUBLIC, ...MAIL, ...TOOLS]

/** The routes of the dashboard that no screen above opens. */
export function missingRoutes(): string[] {
  const source = readFileSync('web/src/routes.tsx', 'utf8')
  const routes = [...source.matchAll(/(?:open|own)Screen\(\s*'([^']+)'/g)].map(([, path = '']) => path) // prettier-ignore
  const opened = new Set(MEASURED.map(({ at }) => routeOf(at, routes)))
  return routes.filter((route) => !opened.has(route))
}

/** The route that the router chooses: words go before parameters. */
function routeOf(at: string, routes: string[]): string | undefined {
  const parts = (path: string) => path.replace(/[?#].*/, '').split('/')
  const wanted = parts(at)
  const fitting = routes.filter((route) => {
    const own = parts(route)
    return (
      own.length === wanted.length &&
      own.every((part, index) => part.startsWith('$') || part === wanted[index])
    )
  })
  return fitting.toSorted((one, other) => one.split('$').length - other.split('$').length)[0]
}
