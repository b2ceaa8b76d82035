import { ProgressBar } from '../../ui/feedback/progress-bar.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Facts } from '../../ui/lists/facts.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { Ago, Until } from '../../ui/text/ago.tsx'
import { numberText } from '../../ui/text/format.ts'
import type { Cutover, StepName } from './api.ts'
import { cutover as messages } from './messages.ts'

/** What was seen for a step. */
export function Evidence({ step, of: cutover }: { step: StepName; of: Cutover }) {
  const isOpen = cutover.step === step
  if (step === 'ttl') return <TtlEvidence of={cutover} isOpen={isOpen} />
  if (step === 'switch') return <SwitchEvidence of={cutover} />
  if (step === 'quiet') return <QuietEvidence of={cutover} isOpen={isOpen} />
  return step === 'final_pass' ? <FinalPassEvidence of={cutover} /> : <ProofEvidence of={cutover} />
}

/** A time that may be past or to come. */
function When({ at }: { at: string }) {
  return Date.parse(at) > Date.now() ? <Until at={at} /> : <Ago at={at} />
}

function TtlEvidence({ of: { dns }, isOpen }: { of: Cutover; isOpen: boolean }) {
  return (
    <>
      <Facts
        facts={[
          [messages.ttlBefore, dns.ttlBefore !== null && messages.seconds(dns.ttlBefore)],
          [messages.ttlLow, dns.ttlLowAt && <Ago key="low" at={dns.ttlLowAt} />],
          [
            messages.ttlEverywhere,
            dns.ttlEverywhereAt && <When key="all" at={dns.ttlEverywhereAt} />,
          ],
        ]}
      />
      {isOpen && <Answers dns={dns} />}
    </>
  )
}

function SwitchEvidence({ of: { dns } }: { of: Cutover }) {
  return (
    <>
      <Facts
        facts={[
          [messages.switched, dns.switchedAt && <Ago key="switched" at={dns.switchedAt} />],
          [
            messages.switchedEverywhere,
            dns.switchedEverywhereAt && <When key="all" at={dns.switchedEverywhereAt} />,
          ],
          [messages.reverted, dns.revertedAt && <Ago key="reverted" at={dns.revertedAt} />],
        ]}
      />
      <Answers dns={dns} />
    </>
  )
}

function Answers({ dns }: { dns: Cutover['dns'] }) {
  const { servers, resolver, checkedAt } = dns
  const rows = [...servers, ...(resolver ? [{ ...resolver, server: messages.resolver }] : [])]
  if (rows.length === 0) return null
  return (
    <>
      <Table
        caption={messages.dnsCaption}
        quiet
        columns={[messages.nameServer, messages.records, messages.ttlColumn]}
      >
        {rows.map(({ server, hosts, ttl, isExpected, problem }) => (
          <tr key={server}>
            <th scope="row">{server}</th>
            <td>
              {problem === null ? (
                <>
                  {hosts.join(', ') || messages.noRecords}{' '}
                  {isExpected && <Status tone="good">{messages.expected}</Status>}
                </>
              ) : (
                <Status tone="unknown">{problem}</Status>
              )}
            </td>
            {ttl !== null && <td data-label={messages.ttlColumn}>{messages.seconds(ttl)}</td>}
          </tr>
        ))}
      </Table>
      {checkedAt && (
        <small>
          {messages.checked} <Ago at={checkedAt} />
        </small>
      )}
    </>
  )
}

function QuietEvidence({ of: { quiet }, isOpen }: { of: Cutover; isOpen: boolean }) {
  return (
    <>
      <Facts
        facts={[
          [messages.quietSince, quiet.since && <Ago key="since" at={quiet.since} />],
          [
            messages.newMessages,
            messages.newMessagesText(quiet.newMessages, quiet.withNewMessages),
          ],
          [
            messages.lastArrival,
            quiet.lastArrivalAt && <Ago key="last" at={quiet.lastArrivalAt} />,
          ],
          [
            messages.watchedUntil,
            quiet.watchedUntil && <Ago key="until" at={quiet.watchedUntil} />,
          ],
          [
            messages.unwatched,
            isOpen && quiet.unwatched > 0 && messages.mailboxes(quiet.unwatched),
          ],
        ]}
      />
      {quiet.mailboxes.length > 0 && (
        <Table
          caption={messages.arrivalsCaption}
          columns={[messages.mailbox, messages.newMessages, messages.lastArrival]}
        >
          {quiet.mailboxes.map(({ id, source, messages: count, lastArrivalAt }) => (
            <tr key={id}>
              <th scope="row">{source}</th>
              <td data-label={messages.newMessages}>{numberText(count)}</td>
              <td data-label={messages.lastArrival}>
                <Ago at={lastArrivalAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

function FinalPassEvidence({ of: { finalPass } }: { of: Cutover }) {
  if (finalPass.startedAt === null) return null
  return (
    <>
      <ProgressBar
        label={messages.finalPassLabel}
        done={finalPass.done}
        total={finalPass.mailboxes}
      />
      <Facts
        facts={[[messages.failed, finalPass.failed > 0 && messages.mailboxes(finalPass.failed)]]}
      />
    </>
  )
}

function ProofEvidence({ of: { proof, steps } }: { of: Cutover }) {
  if (steps.every(({ step, openedAt }) => step !== 'proof' || openedAt === null)) return null
  return (
    <>
      <ProgressBar label={messages.proofsLabel} done={proof.done} total={proof.mailboxes} />
      <Facts
        facts={[
          [messages.failed, proof.failed > 0 && messages.mailboxes(proof.failed)],
          [messages.incomplete, proof.incomplete > 0 && messages.mailboxes(proof.incomplete)],
        ]}
      />
    </>
  )
}
