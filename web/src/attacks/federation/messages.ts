import type { Tone } from '../../ui/feedback/status.tsx'
import { counted, numberText } from '../../ui/text/format.ts'
import type { Peer } from './api.ts'

export const federation = {
  title: 'Federation',
  lead: 'Exchange evidence of attacks with other installations. A peer counts as one network at most.',
  own: 'This installation',
  ownText: 'Give the administrator of the other installation this URL, and compare fingerprints.',
  url: 'URL',
  fingerprint: 'Fingerprint',
  newFingerprint: 'New fingerprint',
  copyFingerprint: 'the fingerprint',
  peers: 'Peers',
  loading: 'Loading peers…',
  empty: 'No peers yet',
  emptyText: 'Enter the URL of another Portreeve. Nothing is exchanged before both sides approve.',
  add: 'Add a peer',
  addUrl: 'URL of the installation',
  addExample: 'https://reports.example.net',
  addMissing: 'Enter a URL such as https://reports.example.net.',
  submit: 'Add peer',
  lastContact: 'Last contact',
  never: 'None yet',
  failed: 'Last contact failed',
  received: 'Received',
  sent: 'Sent',
  items: (count: number) => counted(count, 'item'),
  receivedText: ({ received, withdrawn, ignored }: Peer) =>
    [
      counted(received, 'item'),
      withdrawn > 0 ? `${numberText(withdrawn)} withdrawn` : '',
      ignored > 0 ? `${numberText(ignored)} more ignored` : '',
    ]
      .filter(Boolean)
      .join(' · '),
  approve: 'Approve',
  approveTitle: (name: string) => `Approve ${name}?`,
  approveText:
    'Approve only if the administrator of the peer reads you the same fingerprint, by telephone or chat:',
  later: 'Decide later',
  end: 'End federation',
  endTitle: (name: string) => `End the federation with ${name}?`,
  endText: 'Its evidence is deleted here, and yours there. Scores change within minutes.',
  decline: 'Decline',
  declineTitle: (name: string) => `Decline the request of ${name}?`,
  declineText: 'Nothing is exchanged. You can still approve it later.',
  remove: 'Remove',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeText: 'It can ask again.',
  keep: 'Keep',
} as const

type State = { tone: Tone; word: string; text: string }

/** A status in a word, with what it means. */
export const STATES: Record<Peer['status'], State> = {
  proposed: { tone: 'warn', word: 'Needs your approval', text: 'Compare the fingerprint first.' },
  requested: {
    tone: 'warn',
    word: 'Asks for your approval',
    text: 'Its administrator approved this installation. Compare the fingerprint first.',
  },
  waiting: {
    tone: 'info',
    word: 'Waiting for the peer',
    text: 'Its administrator has not approved this installation yet.',
  },
  active: { tone: 'good', word: 'Active', text: 'Evidence is exchanged in both directions.' },
  refused: {
    tone: 'bad',
    word: 'Refused',
    text: 'Its evidence isn’t accepted. Ask its administrator before you approve it again.',
  },
  key_changed: {
    tone: 'bad',
    word: 'Key changed',
    text: 'Nothing is exchanged until you compare and approve the new fingerprint.',
  },
  ended: {
    tone: 'unknown',
    word: 'Ended by the peer',
    text: 'Its evidence is deleted. Approve it again to ask for a new start.',
  },
  declined: { tone: 'unknown', word: 'Declined', text: 'You can still approve the request.' },
  ending: { tone: 'info', word: 'Ending', text: 'Its evidence is being deleted.' },
}

export const REFUSALS: Record<NonNullable<Peer['refusal']>, string> = {
  flood: 'It sent more evidence than a peer may send in a day.',
  malformed: 'It sent evidence that isn’t valid.',
  bad_signature: 'A response had a wrong signature.',
  future: 'It sent evidence that is dated in the future.',
}
