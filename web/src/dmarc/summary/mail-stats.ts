import type { Pairs } from '../../ui/lists/pairs.tsx'
import { numberText } from '../../ui/text/format.ts'
import type { Source } from '../api.ts'
import { shared, summary } from '../messages.ts'
import { shareText } from '../share-text.ts'

type Counts = Pick<
  Source,
  'messages' | 'pass' | 'dkimAligned' | 'spfAligned' | 'forwarded' | 'disposition'
>

/** The DMARC results of a domain's or a source's messages. */
export function mailStats(counts: Counts): Pairs {
  const { messages, pass, dkimAligned, spfAligned, forwarded, disposition } = counts
  const stopped = disposition.quarantine + disposition.reject
  return [
    [shared.messages, numberText(messages)],
    [shared.passed, shareText(pass, messages)],
    [summary.dkimAligned, shareText(dkimAligned, messages)],
    [summary.spfAligned, shareText(spfAligned, messages)],
    [summary.forwarded, forwarded > 0 && numberText(forwarded)],
    [summary.quarantinedOrRejected, stopped > 0 && numberText(stopped)],
  ]
}
