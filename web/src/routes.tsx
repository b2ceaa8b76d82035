import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { BASE_PATH, currentPath } from './base-path.ts'
import { alertHistorySearch, problemsSearch } from './alerts/search.ts'
import { delistingsSearch, newDelistingSearch } from './delisting/search-params.ts'
import { reportsSearch, sourceSearch, summarySearch } from './dmarc/search.ts'
import { PublicFrame } from './frame/public-frame.tsx'
import { ErrorPage, NotFoundPage, ScreenError } from './frame/error-pages.tsx'
import { loadScreen } from './frame/load-screen.ts'
import { OWN, RootFrame } from './frame/root-frame.tsx'
import { ScreenSkeleton } from './ui/feedback/skeleton.tsx'
import type { ListSearch } from './pages/attack-list.tsx'
import { batchSearch } from './migrations/batches/search.ts'
import { historySearch, hostsSearch } from './monitoring/search.ts'
import {
  dayOf,
  oneOf,
  pageOf,
  searchText,
  tableSearch,
  type Search,
  type TableSearch,
} from './search.ts'
import type { InspectorSearch } from './pages/webhook-endpoint.tsx'
import { accountQuery } from './queries.ts'
import { WorkspaceScreens } from './workspaces/workspace-screens.tsx'

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: RootFrame,
  notFoundComponent: NotFoundPage,
  errorComponent: ErrorPage,
})

/** The frame of public screens. */
const open = createRoute({
  getParentRoute: () => root,
  id: 'open',
  component: () => <PublicFrame />,
  pendingComponent: () => <PublicFrame>{null}</PublicFrame>,
  errorComponent: ErrorPage,
})

/** Screens that need a session, in `AccountFrame`. Other visitors sign in first and come back. */
const own = createRoute({
  getParentRoute: () => root,
  id: OWN,
  component: WorkspaceScreens,
  // The outline is replaced as soon as the account is known.
  pendingMinMs: 0,
  beforeLoad: async ({ context, location }) => {
    const account = await context.queries.ensureQueryData(accountQuery)
    if (!account) throw redirect({ to: '/sign-in', search: { next: location.href } })
    if (account.secondFactorNeeded && location.pathname !== '/account')
      throw redirect({ to: '/account' })
  },
})

type LoadScreen = () => Promise<{ Screen: () => ReactNode }>
const noSearch = () => ({})

function openScreen<const P extends string, S extends Search = {}>(
  path: P,
  load: LoadScreen,
  validateSearch: (search: Search) => S = noSearch as () => S,
) {
  return createRoute({
    getParentRoute: () => open,
    path,
    validateSearch,
    component: lazyRouteComponent(() => loadScreen(path, load), 'Screen'),
  })
}

function ownScreen<const P extends string, S extends Search = {}>(
  path: P,
  load: LoadScreen,
  validateSearch: (search: Search) => S = noSearch as () => S,
) {
  return createRoute({
    getParentRoute: () => own,
    path,
    validateSearch,
    component: lazyRouteComponent(() => loadScreen(path, load), 'Screen'),
  })
}

/** One line per screen: its path, its file, which is loaded on demand, and its query parameters. */
const screens = root.addChildren([
  open.addChildren([
    openScreen('/', () => import('./pages/welcome.tsx')),
    openScreen('/address', () => import('./pages/address.tsx'), addressSearch),
    openScreen('/network', () => import('./pages/network.tsx')),
    openScreen('/shared/$token', () => import('./pages/shared.tsx')),
    openScreen(
      '/shared-webhook-requests/$token',
      () => import('./pages/shared-webhook-request.tsx'),
    ),
    openScreen('/shared-mail-tests/$token', () => import('./pages/shared-mail-test.tsx')),
    openScreen('/setup', () => import('./pages/setup.tsx')),
    openScreen('/sign-up', () => import('./pages/sign-up.tsx')),
    openScreen(
      '/sign-in',
      () => import('./pages/sign-in.tsx'),
      ({ next, error, provider }): SignInSearch => ({
        next: ownPath(next),
        error: searchText(error),
        provider: searchText(provider),
      }),
    ),
    openScreen('/invitation', () => import('./pages/invitation.tsx')),
    openScreen('/signed-in', () => import('./pages/signed-in.tsx')),
    openScreen('/forgot-password', () => import('./pages/forgot-password.tsx')),
    openScreen('/reset-password', () => import('./pages/reset-password.tsx')),
  ]),
  own.addChildren([
    ownScreen('/home', () => import('./pages/home.tsx')),
    ownScreen(
      '/check',
      () => import('./pages/check.tsx'),
      ({ q }): { q?: string } => ({ q: searchText(q) }),
    ),
    ownScreen('/domains', () => import('./pages/domains.tsx'), domainsSearch),
    ownScreen('/domains/$domain', () => import('./pages/domain.tsx')),
    ownScreen('/domains/$domain/deliverability', () => import('./pages/domain-deliverability.tsx')),
    ownScreen('/mail-tests', () => import('./pages/mail-tests.tsx')),
    ownScreen('/mail-tests/$id', () => import('./pages/mail-test.tsx')),
    ownScreen('/hooks', () => import('./pages/webhook-endpoints.tsx'), tableSearch),
    ownScreen('/hooks/$id', () => import('./pages/webhook-endpoint.tsx'), inspectorSearch),
    ownScreen('/hooks/$id/settings', () => import('./pages/webhook-endpoint-settings.tsx')),
    ownScreen('/hooks/$id/rules', () => import('./pages/webhook-rules.tsx')),
    ownScreen('/hooks/$id/destinations', () => import('./pages/webhook-destinations.tsx')),
    ownScreen('/dmarc', () => import('./pages/dmarc.tsx'), tableSearch),
    ownScreen('/dmarc/rejected', () => import('./pages/dmarc-rejected.tsx'), pageSearch),
    ownScreen('/dmarc/mailboxes', () => import('./pages/dmarc-mailboxes.tsx')),
    ownScreen('/dmarc/$id', () => import('./pages/dmarc-domain.tsx'), summarySearch),
    ownScreen(
      '/dmarc/$id/sources/$address',
      () => import('./pages/dmarc-source.tsx'),
      sourceSearch,
    ),
    ownScreen('/dmarc/$id/reports', () => import('./pages/dmarc-reports.tsx'), reportsSearch),
    ownScreen('/dmarc/$id/reports/$reportId', () => import('./pages/dmarc-report.tsx'), pageSearch),
    ownScreen('/dmarc/$id/tls', () => import('./pages/dmarc-tls.tsx'), pageSearch),
    ownScreen('/dmarc/$id/record', () => import('./pages/dmarc-record.tsx')),
    ownScreen('/monitoring', () => import('./pages/monitoring.tsx'), hostsSearch),
    ownScreen('/monitoring/lists', () => import('./pages/monitored-lists.tsx')),
    ownScreen('/monitoring/$id', () => import('./pages/monitored-host.tsx'), historySearch),
    ownScreen('/monitoring/$id/settings', () => import('./pages/monitored-host-settings.tsx')),
    ownScreen('/addresses/$ip', () => import('./pages/known-address.tsx')),
    ownScreen('/delisting', () => import('./pages/delisting.tsx'), delistingsSearch),
    ownScreen('/delisting/new', () => import('./pages/new-delisting.tsx'), newDelistingSearch),
    ownScreen('/delisting/$id', () => import('./pages/delisting-detail.tsx')),
    ownScreen('/migrations', () => import('./pages/migrations.tsx'), pagedTableSearch),
    ownScreen('/migrations/new', () => import('./pages/new-migration.tsx')),
    ownScreen('/migrations/sign-ins', () => import('./pages/mailbox-sign-ins.tsx')),
    ownScreen('/migrations/batches', () => import('./pages/migration-batches.tsx'), pageSearch),
    ownScreen('/migrations/batches/new', () => import('./pages/new-migration-batch.tsx')),
    ownScreen('/migrations/batches/$id', () => import('./pages/migration-batch.tsx'), batchSearch),
    ownScreen('/migrations/batches/$id/proof', () => import('./pages/migration-batch-proof.tsx')),
    ownScreen('/migrations/$id', () => import('./pages/migration.tsx')),
    ownScreen('/migrations/$id/proof', () => import('./pages/migration-proof.tsx')),
    ownScreen('/attacks', () => import('./pages/attacks.tsx'), attacksSearch),
    ownScreen('/attacks/servers', () => import('./pages/attack-servers.tsx'), tableSearch),
    ownScreen('/attacks/fleet', () => import('./pages/attack-fleet.tsx'), tableSearch),
    ownScreen('/attacks/list', () => import('./pages/attack-list.tsx'), listSearch),
    ownScreen('/attacks/connect', () => import('./pages/attack-connect.tsx'), connectSearch),
    ownScreen('/attacks/feeds', () => import('./pages/public-feeds.tsx')),
    ownScreen('/attacks/relays', () => import('./pages/attack-relays.tsx')),
    ownScreen('/attacks/mails', () => import('./pages/abuse-mails.tsx')),
    ownScreen('/attacks/networks', () => import('./pages/watched-networks.tsx')),
    ownScreen('/attacks/networks/$id', () => import('./pages/watched-network.tsx')),
    ownScreen('/attacks/federation', () => import('./pages/attack-federation.tsx')),
    ownScreen('/attacks/administration', () => import('./pages/attack-administration.tsx')),
    ownScreen('/tokens', () => import('./pages/tokens.tsx'), tableSearch),
    ownScreen('/workspace', () => import('./pages/workspace.tsx')),
    ownScreen('/workspace/members', () => import('./pages/workspace-members.tsx')),
    ownScreen('/workspace/invitations', () => import('./pages/workspace-invitations.tsx')),
    ownScreen('/workspace/audit', () => import('./pages/workspace-audit.tsx'), actsSearch),
    ownScreen('/workspaces', () => import('./pages/workspaces.tsx')),
    ownScreen('/alerts', () => import('./pages/alerts.tsx'), problemsSearch),
    ownScreen('/alerts/history', () => import('./pages/alert-history.tsx'), alertHistorySearch),
    ownScreen('/alerts/channels', () => import('./pages/alert-channels.tsx')),
    ownScreen('/alerts/channels/new', () => import('./pages/new-alert-channel.tsx')),
    ownScreen('/alerts/channels/new/$type', () => import('./pages/new-alert-channel-form.tsx')),
    ownScreen('/alerts/channels/guide/$type', () => import('./pages/alert-channel-guide.tsx')),
    ownScreen('/alerts/rules', () => import('./pages/alert-rules.tsx')),
    ownScreen('/alerts/digest', () => import('./pages/digest.tsx')),
    ownScreen('/account', () => import('./pages/account.tsx')),
    ownScreen('/administration', () => import('./pages/administration.tsx')),
    ownScreen('/administration/accounts', () => import('./pages/accounts.tsx'), pagedTableSearch),
    ownScreen(
      '/administration/workspaces',
      () => import('./pages/installed-workspaces.tsx'),
      pageSearch,
    ),
    ownScreen('/administration/mail-providers', () => import('./pages/mail-providers.tsx')),
    ownScreen('/administration/audit', () => import('./pages/audit.tsx'), actsSearch),
  ]),
])

/** `error` and `provider` come from a failed sign-in at the OpenID provider. */
type SignInSearch = { next?: string; error?: string; provider?: string }

const VIEWS: NonNullable<InspectorSearch['view']>[] = [
  'body',
  'headers',
  'query',
  'compare',
  'send',
  'share',
]

function inspectorSearch({ q, method, request, view }: Search): InspectorSearch {
  return {
    q: searchText(q),
    method: searchText(method),
    request: searchText(request),
    view: VIEWS.find((each) => each === view),
  }
}

function actsSearch({ q, actor, ...rest }: Search): AuditSearch {
  return { q: searchText(q), actor: searchText(actor), ...pageSearch(rest) }
}

type AuditSearch = { q?: string; actor?: string; page?: number }

function addressSearch({ ip }: Search): { ip?: string } {
  return { ip: searchText(ip) }
}

/** An address to look up, and the day of the map. */
function connectSearch({ tool }: Search): { tool?: string } {
  return typeof tool === 'string' ? { tool } : {}
}

function attacksSearch({ ip, day }: Search): { ip?: string; day?: string } {
  return { ip: searchText(ip), day: dayOf(day) }
}

function listSearch({ format, service }: Search): ListSearch {
  return { format: searchText(format), service: searchText(service) }
}

function domainsSearch({ view, ...rest }: Search): PagedTableSearch & { view?: 'table' } {
  return { ...pagedTableSearch(rest), view: oneOf(view, ['table']) }
}

type PagedTableSearch = TableSearch & { page?: number }

function pagedTableSearch(search: Search): PagedTableSearch {
  return { ...tableSearch(search), ...pageSearch(search) }
}

/** The page of a long list. */
function pageSearch({ page }: Search): { page?: number } {
  return { page: pageOf(page) }
}

/**
 * Accepts only a path of this site, because any other value could redirect to a foreign site after
 * the sign-in.
 */
function ownPath(next: unknown): string | undefined {
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : undefined
}

/** Milliseconds after which a screen that is still loading shows its outline. */
const PENDING_MS = 100

export function createDashboard(queries: QueryClient) {
  return createRouter({
    routeTree: screens,
    basepath: BASE_PATH,
    context: { queries },
    defaultPreload: 'intent',
    defaultPendingComponent: ScreenSkeleton,
    defaultPendingMs: PENDING_MS,
    defaultErrorComponent: ScreenError,
    scrollRestoration: true,
  })
}

/** Loads the file of the screen at this address. What goes wrong is shown when it is opened. */
export async function preloadScreen(router: ReturnType<typeof createDashboard>): Promise<void> {
  const [, , foundRoute] = router.getMatchedRoutes(currentPath())
  if (foundRoute) await Promise.resolve(router.loadRouteChunk(foundRoute)).catch(() => undefined)
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createDashboard>
  }
}
