import { counted } from '../../ui/text/format.ts'

export const networks = {
  title: 'Your networks',
  lead: 'You get an alert when an address in them is on the attack list or in an enabled public feed.',
  loading: 'Loading your networks…',
  empty: 'No networks yet',
  emptyText: 'Add the addresses of your servers, one by one or as networks.',
  add: 'Watch a network',
  cidr: 'Address or network',
  label: 'Description',
  submit: 'Watch network',
  remove: 'Remove',
  removeTitle: (network: string) => `Stop watching ${network}?`,
  removeText: 'Its history is deleted.',
  status: (open: number) => (open === 0 ? 'Not listed' : counted(open, 'entry', 'entries')),
  checking: 'Checking',
  checked: 'Last checked',
} as const

export const findings = {
  untitled: 'Watched network',
  back: 'Your networks',
  loading: 'Loading the network…',
  none: 'No address in this network is on a list.',
  waiting: 'The first check is in progress.',
  open: 'On lists now',
  past: 'History',
  attackList: 'Attack list',
  since: 'since',
  removal: 'Ask for removal',
  removalOf: (entry: string, list: string) => `of ${entry} from ${list}`,
  appeal: (entry: string) => `Appeal the listing of ${entry}`,
  columns: ['Entry', 'List', 'Listed', 'Removed'],
} as const
