import { isDeepStrictEqual } from 'node:util'
import {
  totalsOfFolders,
  totalsOfMailboxes,
  verdictOfBatch,
  verdictOfMailbox,
  type MailboxProof,
  type ProofDocument,
} from './proof-document.ts'

/**
 * Checks that the sums and the verdict of a proof follow from its parts.
 * @returns what does not fit, as a sentence; null when everything does
 */
export function findContradiction(document: ProofDocument): string | null {
  const [totals, verdict] =
    document.kind === 'mailbox'
      ? [totalsOfFolders(document.folders), verdictOfMailbox(document)]
      : [totalsOfMailboxes(document.mailboxes), verdictOfBatch(document.mailboxes)]
  if (!isDeepStrictEqual(totals, document.totals))
    return 'The totals of the proof do not follow from its parts.'
  if (verdict !== document.verdict)
    return 'The verdict of the proof does not follow from its parts.'
  return document.kind === 'mailbox' ? findFolderContradiction(document) : null
}

function findFolderContradiction({ folders }: MailboxProof): string | null {
  const wrong = folders.find(
    ({ source, kept, elsewhere, unreadable, missing }) =>
      source.messages + unreadable !== kept.messages + elsewhere + missing,
  )
  return wrong
    ? `The counts of the folder “${wrong.destination ?? wrong.sources[0]?.folder}” do not add up.`
    : null
}
