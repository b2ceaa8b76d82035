import { counted, numberText } from '../ui/text/format.ts'
import type { AddressOverview } from './api.ts'

export const address = {
  loading: 'Loading the address…',
  verdict({ listings, sends, fleet, hosts }: AddressOverview): string {
    const lists = listings?.length ?? 0
    const domains = new Set(sends?.map(({ domainId }) => domainId)).size
    const parts = [
      lists > 0 && `on ${counted(lists, 'blocklist')}`,
      fleet?.ban?.expiresAt && 'banned on your servers',
      domains > 0 && `sends for ${counted(domains, 'of your domains', 'of your domains')}`,
      hosts && hosts.length > 0 && `belongs to ${counted(hosts.length, 'monitored host')}`,
    ].filter((part) => typeof part === 'string')
    const [first = ''] = parts
    if (parts.length === 0) return 'Nothing about this address in your workspace.'
    return `${first.charAt(0).toUpperCase()}${parts.join(', ').slice(1)}.`
  },
  yours: 'Yours',
  network: 'Network',
  system: 'Operator',
  systemText: (number: number, name: string) => (name ? `${name} (AS${number})` : `AS${number}`),
  contact: 'Abuse contact',
  reverseName: 'Reverse name',
  watched: 'Watched network',
  delisting: 'Delisting',
  next: 'Next steps',
  steps: {
    delist: 'Start delisting',
    'continue-delisting': 'Continue delisting',
    unban: 'Remove the ban',
    appeal: 'Appeal the attack reports',
    'decide-sender': 'Decide whose this sender is',
    monitor: 'Monitor this address',
  } satisfies Record<AddressOverview['next'][number]['step'], string>,
  decide: (domain: string) => `Decide whose this sender is: ${domain}`,
  sends: 'Sends email for',
  sendsColumns: ['Domain', 'Messages', 'Passed', 'Period'],
  sendsTitle: 'Email for your domains, last 12 months',
  source: (ip: string) => `from ${ip}`,
  hosts: 'Monitored hosts',
  hostColumns: ['Host', 'Status', 'Last checked'],
  listings: 'Listings that monitoring found',
  listingColumns: ['Blocklist', 'Status', 'Reason'],
  since: 'since',
  servers: 'On your servers',
  banned: 'Banned',
  banEnds: 'ends',
  bans: (count: number) => `${numberText(count)} in the last 30 days`,
  notBanned: 'Not banned now',
  allowed: 'On your allowlist',
  server: 'Server of yours',
  unnamedServer: 'Unnamed server',
  reportsTitle: 'Reports of your servers',
  reportColumns: ['Server', 'Service', 'Events', 'Time'],
  blocklists: 'Blocklists',
  onlyIpv4:
    'This check is for IPv4 addresses. Monitor the address to check the blocklists for IPv6.',
  attacks: 'Attack reports',
  publicPage: 'the public page',
  copyPublicPage: 'Copy link to the public page',
} as const
