import type { Pairs } from '../../ui/lists/pairs.tsx'
import { numberText } from '../../ui/text/format.ts'
import type { Source } from '../api.ts'
import { shareText } from '../words.ts'

type Counts = Pick<Source, 'messages' | 'pass' | 'dkimAligned' | 'spfAligned' | 'forwarded' | 'disposition'>

/** How the mail of a domain, or of one of its sources, was judged. */
export function mailStats(counts: Counts): Pairs {
  const { messages, pass, dkimAligned, spfAligned, forwarded, disposition } = counts
  const stopped = disposition.quarantine + disposition.reject
  return [
    ['Messages', numberText(messages)],
    ['Passed', shareText(pass, messages)],
    ['DKIM aligned', shareText(dkimAligned, messages)],
    ['SPF aligned', shareText(spfAligned, messages)],
    ['Passed on by others', forwarded > 0 && numberText(forwarded)],
    ['Stopped', stopped > 0 && numberText(stopped)],
  ]
}
