import { useQueryClient } from '@tanstack/react-query'
import { RenewedSignIn } from '../../imap/renewed-sign-in.tsx'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Status, type Tone } from '../../ui/feedback/status.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { canaries, type CanaryResult, type CanarySeed } from './api.ts'
import { canary as messages, detailsOf, OUTCOME_NAMES, providerName } from './messages.ts'

const TONES: Record<NonNullable<CanaryResult['outcome']>, Tone> = {
  inbox: 'good',
  category: 'info',
  junk: 'bad',
  late: 'warn',
  missing: 'bad',
  refused: 'bad',
  unknown: 'unknown',
}

/** The mailboxes of a canary, each with its latest mail. */
export function SeedTable({ canaryId, seeds }: { canaryId: string; seeds: CanarySeed[] }) {
  return (
    <Table caption={messages.seeds} quiet columns={messages.seedColumns}>
      {seeds.map((seed) => (
        <SeedRow key={seed.id} canaryId={canaryId} seed={seed} />
      ))}
    </Table>
  )
}

function SeedRow({ canaryId, seed }: { canaryId: string; seed: CanarySeed }) {
  const access = useAccess()
  const queries = useQueryClient()
  const { id, email, provider, latest, isBad, isBlind, problem, needsSignIn, credentialId } = seed
  return (
    <tr>
      <th scope="row">
        {email}
        <small>{providerName(provider)}</small>
      </th>
      <td>
        <Latest latest={latest} />
        {isBad && <small>{messages.bad}</small>}
        {isBlind && <small>{messages.blind}</small>}
        {problem !== null && <small>{problem}</small>}
        {needsSignIn && <RenewedSignIn credentialId={credentialId} />}
      </td>
      <td>{latest && <Ago at={latest.sentAt} />}</td>
      <td>
        <ConfirmButton
          {...access}
          label={messages.remove}
          about={email}
          title={messages.removingSeed(email)}
          onConfirm={async () => {
            await canaries.removeSeed(canaryId, id)
            await queries.invalidateQueries({ queryKey: ['canaries'] })
          }}
        >
          <p>{messages.removingSeedText}</p>
        </ConfirmButton>
      </td>
    </tr>
  )
}

function Latest({ latest }: { latest: CanaryResult | null }) {
  if (latest === null) return <Status tone="unknown">{messages.none}</Status>
  if (latest.outcome === null) return <Status tone="info">{messages.waiting}</Status>
  const tone = latest.voidReason === null ? TONES[latest.outcome] : 'unknown'
  return (
    <>
      <Status tone={tone}>{OUTCOME_NAMES[latest.outcome]}</Status>
      {detailsOf(latest).map((line) => (
        <small key={line}>{line}</small>
      ))}
    </>
  )
}
