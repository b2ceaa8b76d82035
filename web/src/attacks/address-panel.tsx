import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { HourAgo } from '../ui/text/hour-ago.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Section, Stack } from '../ui/layout/page.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { Table } from '../ui/lists/table.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { addressQuery, type AddressFacts } from './api.ts'
import { address as messages } from './messages.ts'
import { useLabels } from './use-labels.ts'
import { addressVerdict } from './verdict.ts'

type AddressPanelProps = {
  ip: string
  /** Actions, below the facts. */
  children?: (facts: AddressFacts) => ReactNode
}

/** The verdict on an address, its reasons and its evidence. */
export function AddressPanel({ ip, children }: AddressPanelProps) {
  const { data, error } = useQuery(addressQuery(ip))
  if (error) return <Notice tone="unknown">{error.message}</Notice>
  if (!data) return <Loading lines={4}>{messages.loading}</Loading>
  return <AddressReportsView data={data}>{children?.(data)}</AddressReportsView>
}

type ViewProps = { data: AddressFacts; children?: ReactNode }

/** The attack reports about an address. */
export function AddressReportsView({ data, children }: ViewProps) {
  const { tone, sentence } = addressVerdict(data)
  return (
    <Stack>
      <div role="status">
        <Notice tone={tone}>
          <strong>{sentence}</strong>
        </Notice>
      </div>
      {(data.totalReports > 0 || data.peers.length > 0) && <ReportFacts {...data} />}
      {data.publicFeeds.length > 0 && <FeedListings listings={data.publicFeeds} />}
      {children}
    </Stack>
  )
}

/** The public feeds with this address, which do not affect the verdict. */
function FeedListings({ listings }: { listings: AddressFacts['publicFeeds'] }) {
  return (
    <Section title={messages.feeds}>
      <List>
        {listings.map(({ id, name, label, network, since, removalUrl }) => (
          <ListItem
            key={id}
            title={name}
            action={removalUrl && <a href={removalUrl}>{messages.feedRemoval}</a>}
          >
            {messages.feedSince(label, network)} <DateText at={since} />
          </ListItem>
        ))}
      </List>
    </Section>
  )
}

function ReportFacts(facts: AddressFacts) {
  const { ip, network, score, confidenceLevel, totalReports, distinctReporters } = facts
  const { firstReportedAt, lastReportedAt, evidence, peers } = facts
  const labelOf = useLabels()
  return (
    <>
      <Facts
        facts={[
          [messages.score, messages.scoreText(score)],
          [messages.confidence, messages.confidences[confidenceLevel]],
          [messages.reportedBy, messages.reporters(distinctReporters, peers)],
          [messages.reports, messages.reportsText(totalReports)],
          [messages.attacked, attackedOf(facts).map(labelOf).join(', ')],
          [messages.firstReported, firstReportedAt && <HourAgo key="first" at={firstReportedAt} />],
          [messages.lastReported, lastReportedAt && <HourAgo key="last" at={lastReportedAt} />],
          [messages.countedFor, network === ip ? null : messages.wholeNetwork(network)],
        ]}
      />
      {evidence.length > 0 && (
        <Disclosure summary={messages.evidenceLines(evidence.length)}>
          <Evidence evidence={evidence} labelOf={labelOf} />
        </Disclosure>
      )}
    </>
  )
}

/** The services that were reported here, and by peers. */
function attackedOf({ services, peers }: AddressFacts): string[] {
  return [
    ...new Set([
      ...services.map(({ service }) => service),
      ...peers.flatMap((peer) => peer.services),
    ]),
  ]
}

type EvidenceProps = Pick<AddressFacts, 'evidence'> & { labelOf: (service: string) => string }

/**
 * The source is a pseudonym that is valid for this address only, and times are rounded to hours.
 */
function Evidence({ evidence, labelOf }: EvidenceProps) {
  return (
    <Table caption={messages.evidence} quiet columns={[...messages.evidenceColumns]}>
      {evidence.map(({ service, port, count, at, reporter }) => (
        <tr key={`${reporter} ${service}`}>
          <th scope="row">
            {labelOf(service)}
            {port !== null && <small>{messages.port(port)}</small>}
          </th>
          <td>{messages.events(count)}</td>
          <td>
            <HourAgo at={at} />
          </td>
          <td data-label={messages.source}>
            <code>{reporter}</code>
          </td>
        </tr>
      ))}
    </Table>
  )
}
