import { inService } from '../base-path.ts'

/** Pages of the guide about the screens below a path; the first that fits counts. */
const PAGES: readonly (readonly [path: string, page: string])[] = [
  ['/domains', 'domains.html'],
  ['/check', 'checks.html'],
  ['/addresses', 'checks.html'],
  ['/dmarc', 'dmarc.html'],
  ['/monitoring', 'monitoring.html'],
  ['/delisting', 'delisting.html'],
  ['/migrations/batches', 'move-a-company.html'],
  ['/migrations', 'migration.html'],
  ['/attacks/feeds', 'feeds.html'],
  ['/attacks/relays', 'relays.html'],
  ['/attacks/mails', 'abuse-mails.html'],
  ['/attacks/networks', 'watched-networks.html'],
  ['/attacks/federation', 'federation.html'],
  ['/attacks/fleet', 'fleet.html'],
  ['/attacks', 'attack-reporting.html'],
  ['/hooks', 'webhooks.html'],
  ['/tokens', 'tokens.html'],
  ['/workspace', 'workspaces.html'],
  ['/alerts/rules', 'alert-rules.html'],
  ['/alerts/channels', 'alert-channels.html'],
  ['/alerts/digest', 'digest.html'],
  ['/alerts', 'alerts.html'],
  ['/account', 'accounts.html'],
  ['/administration', 'operations.html'],
]

/** The address of a page of the guide. */
export const inGuide = (page = '') => inService(`/docs/guide/${page}`)

/** The page of the guide about a screen; its first page where none is. */
export function guidePageOf(screen: string): string {
  const [, page = ''] =
    PAGES.find(([path]) => screen === path || screen.startsWith(`${path}/`)) ?? []
  return inGuide(page)
}
