// `npm run access`: writes docs/access.md from the routes that a running service has registered.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formattedMarkdown, generatedBy } from './formatted.ts'
import { startService } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { recordRouteAccess, type RouteAccess } from '../src/http/route-access.ts'
import { createLog } from '../src/log.ts'
import { ROOT } from './run.ts'

export const ACCESS_FILE = join(ROOT, 'docs', 'access.md')

const INTRODUCTION = `# Access to each route

Every route of the API, with what it demands of its caller. \`npm run access\` writes this page from the routes that a running service registers, and a test calls each of them with every kind of caller.

- **Callers**: *everyone*, or a signed-in *account*; *administrator* is one of the installation.
- **Role**: the least powerful role in the workspace that may call the route: owner, admin, member, read-only. A dash means that the route concerns no workspace.
- **Token scope**: what an API token with scopes needs. \`*:read\` and \`*:write\` stand for all modules, and write includes read. A token without scopes may do what its creator may. *Session* means that no API token is accepted, and *recent sign-in* that the session needs a sign-in or confirmation within the last ten minutes.
- **Key**: the key of attack reporting that counts, without an account. A *report token* (\`ar_…\`) links reports to a workspace and reads their statistics. A *bouncer key* (\`bk_…\`) reads the fleet list of its workspace and is never part of a URL. Neither reads or changes anything else.

A request names its workspace in its path, in the header \`X-Workspace\` or, for event streams and downloads, in the query parameter \`workspace\`. Without a name it is the oldest workspace of the account, and an API token acts in its own workspace only. Others than members get 403 \`not_a_member\`. Objects of another workspace are not found (404).

Routes that the table leaves out are open to everyone: captured requests at \`/webhooks/TOKEN\`, the TAXII server at \`/taxii2/\` (its fleet collection needs a bouncer key), the pages and files of the dashboard, the redirects of single sign-on, \`/docs\`, \`/openapi.json\`, \`/healthz\` and \`/readyz\`.
`

/** docs/access.md as it must be. */
export function accessPage(routes: RouteAccess[]): Promise<string> {
  const rows = visibleRoutes(routes).map(
    (route) =>
      `| \`${route.method} ${route.path}\` | ${CALLERS[route.audience]} | ${route.role ?? '–'} | ${tokenColumn(route)} | ${route.key ?? '–'} |`,
  )
  const table = [
    '| Route | Callers | Role | Token scope | Key |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n')
  return formattedMarkdown(`${generatedBy('access')}${INTRODUCTION}\n${table}\n`)
}

/** The rows of the table: the routes of the API reference, sorted by path. */
export function visibleRoutes(routes: RouteAccess[]): RouteAccess[] {
  const order = ({ path, method }: RouteAccess) => `${path} ${method}`
  return routes
    .filter(({ isHidden }) => !isHidden)
    .toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
}

const CALLERS = { public: 'everyone', account: 'account', administrator: 'administrator' }

function tokenColumn({ audience, scope, session }: RouteAccess): string {
  if (session === 'fresh') return 'session, recent sign-in'
  if (session === 'any') return 'session'
  if (audience === 'administrator') return 'without scopes'
  return scope === null ? '–' : `\`${scope}\``
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-access-'))
  const config = readConfig({ DATA_DIR: folder, PORT: '0', SMTP_LISTEN: 'off' })
  let routes: RouteAccess[] = []
  const service = await startService(config, createLog('warn'), (app) => {
    routes = recordRouteAccess(app)
  })
  writeFileSync(ACCESS_FILE, await accessPage(routes))
  await service.stop()
  rmSync(folder, { recursive: true })
}
