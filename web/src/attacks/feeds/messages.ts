import { counted, numberText } from '../../ui/text/format.ts'

export const feeds = {
  title: 'Public feeds',
  lead: 'Lists of addresses that others publish. Only for information and your firewall; not part of our score.',
  loading: 'Loading the feeds…',
  states: { off: 'Off', waiting: 'Downloading', 'in-use': 'In use', expired: 'Too old to use' },
  problems: {
    shrunk: 'Held back: it shrank',
    grown: 'Held back: it grew',
    malformed: 'Held back: malformed',
    unreachable: 'Provider unreachable',
    outdated: 'No longer updated',
  },
  lastGood: (hours: number) =>
    `The last good version stays in use until it is ${counted(hours, 'hour')} old.`,
  facts: {
    size: 'Size',
    version: 'Updated',
    checked: 'Last checked',
    overlap: 'Also in',
    terms: 'Terms',
    provider: 'Provider',
    interval: 'Downloads',
  },
  size: (networks: number, addresses: number) =>
    addresses === networks
      ? counted(networks, 'address', 'addresses')
      : `${counted(networks, 'entry', 'entries')}, ${numberText(addresses)} IPv4 addresses`,
  skipped: (count: number) => `${counted(count, 'private network')} left out`,
  overlap: (list: string, networks: number, of: number) =>
    `${list}: ${networks < of / 100 ? 'less than 1%' : `${Math.round((100 * networks) / of)}%`}`,
  fleet: 'fleet list',
  shared: 'shared blocklist',
  interval: (hours: number) => (hours === 1 ? 'Every hour' : `Every ${hours} hours`),
  enabled: 'Enabled',
  available: 'Available',
  use: 'Block on your servers and in exports',
  leftOut: (most: number) =>
    `Left out: your feeds have more than ${numberText(most)} entries together. Stop using another one.`,
  enable: 'Enable',
  enableTitle: (name: string) => `Enable ${name} for all workspaces?`,
  enableText: (terms: string) =>
    `This service downloads it regularly, and workspaces can use it. Its terms: ${terms}`,
  disable: 'Disable',
  disableTitle: (name: string) => `Disable ${name}?`,
  disableText: 'Its entries are deleted, and leave the lists of all workspaces.',
  accept: 'Use the new version',
  acceptTitle: (name: string) => `Use the new version of ${name}?`,
  acceptText: (before: number, after: number) =>
    `It has ${counted(after, 'entry', 'entries')} instead of ${numberText(before)}.`,
  keep: 'Keep the current version',
  askAdministrator: 'An administrator of this service enables feeds.',
} as const

export const exportFile = {
  title: 'Export for firewalls',
  text: 'One file with your fleet list, the feeds that you use and, if bouncers block it, the shared blocklist. Your allowlist always wins.',
  command: 'the command',
  key: 'A BOUNCER KEY',
  formats:
    'Create the key under Bans. Formats: plain, csv, json, nftables, ipset, mikrotik, haproxy, nginx, rbldnsd, cloudflare. Firewalls can send the key as the password of basic authentication.',
} as const
