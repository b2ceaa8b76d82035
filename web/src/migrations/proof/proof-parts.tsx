import {
  describeVerdict,
  isEmptyProof,
  reasonText,
} from '../../../../src/migration/proof/messages.ts'
import { Snippet } from '../../ui/actions/copy.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import type { Tone } from '../../ui/feedback/status.tsx'
import { Muted, Section, Stack } from '../../ui/layout/page.tsx'
import { Facts } from '../../ui/lists/facts.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { numberText, sizeText } from '../../ui/text/format.ts'
import type { ProofKey, ProofTotals, Reason } from './api.ts'
import { proof as messages } from './messages.ts'
import classes from './proof.module.css'

type Proven = { verdict: keyof typeof messages.results; totals: ProofTotals }

/** The word and the tone of a verdict. A proof of nothing is no success. */
export function resultOf({ verdict, totals }: Proven): { tone: Tone; word: string } {
  if (verdict === 'incomplete') return { tone: 'bad', word: messages.results.incomplete }
  if (isEmptyProof(totals)) return { tone: 'warn', word: messages.empty }
  return { tone: 'good', word: messages.results[verdict] }
}

export function Verdict({ proof }: { proof: Proven }) {
  return (
    <div role="status">
      <Notice tone={resultOf(proof).tone}>
        <strong>{describeVerdict(proof)}</strong>
      </Notice>
    </div>
  )
}

/** The messages of both sides, with the digests over all of them. */
export function Sums({ totals }: { totals: ProofTotals }) {
  const rows = [
    [messages.source, totals.source],
    [messages.kept, totals.kept],
    [messages.additional, totals.additional],
  ] as const
  return (
    <Section title={messages.sums}>
      <Table
        caption={messages.sums}
        quiet
        columns={[messages.where, messages.messages, messages.bytes, messages.digest]}
      >
        {rows.map(([name, sum]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td data-label={messages.messages}>{numberText(sum.messages)}</td>
            <td data-label={messages.bytes}>{sizeText(sum.bytes)}</td>
            <td data-label={messages.digest}>
              <code className={classes.digest}>{sum.digest}</code>
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}

/** Reasons with the numbers of messages that they apply to. */
export function Reasons({ title, reasons }: { title: string; reasons: readonly Reason[] }) {
  if (reasons.length === 0) return null
  return (
    <Section title={title}>
      <Table caption={title} quiet columns={[messages.reasons, messages.count]}>
        {reasons.map(({ reason, messages: count }) => (
          <tr key={reason}>
            <th scope="row">{sentenceOf(reasonText(reason))}</th>
            <td data-label={messages.count}>{numberText(count)}</td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}

export function sentenceOf(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** How the downloaded file is verified. */
export function VerifySection({ file, proofKey }: { file: string; proofKey: ProofKey }) {
  return (
    <Section title={messages.verify}>
      <Stack>
        <Muted>{messages.verifyText}</Muted>
        <Facts facts={[[messages.key, proofKey.fingerprint]]} />
        <Snippet what={messages.verify} text={messages.verifyCommand(file, proofKey.fingerprint)} />
      </Stack>
    </Section>
  )
}
