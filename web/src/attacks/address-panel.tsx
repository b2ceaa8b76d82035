import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { HourAgo } from '../ui/text/hour-ago.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Stack } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { counted, numberText } from '../ui/text/format.ts'
import { addressQuery, type AddressFacts } from './api.ts'
import { useLabels } from './use-labels.ts'
import { addressVerdict, CONFIDENCE } from './verdict.ts'

type AddressPanelProps = {
  ip: string
  /** What can be done about it, below what is known. */
  children?: (facts: AddressFacts) => ReactNode
}

/** What is known of an address: the verdict, why, and the evidence. */
export function AddressPanel({ ip, children }: AddressPanelProps) {
  const { data, error } = useQuery(addressQuery(ip))
  if (error) return <Notice tone="unknown">{error.message}</Notice>
  if (!data) return <Loading lines={4}>Looking the address up …</Loading>
  const { tone, sentence } = addressVerdict(data)
  return (
    <Stack>
      <div role="status">
        <Notice tone={tone}>
          <strong>{sentence}</strong>
        </Notice>
      </div>
      {data.totalReports > 0 && <Known {...data} />}
      {children?.(data)}
    </Stack>
  )
}

function Known(facts: AddressFacts) {
  const { ip, network, score, confidenceLevel, totalReports, distinctReporters } = facts
  const { firstReportedAt, lastReportedAt, services, evidence } = facts
  const labelOf = useLabels()
  return (
    <>
      <Facts
        facts={[
          ['Score', `${score} of 100; from 60 an address may be listed`],
          ['Confidence', CONFIDENCE[confidenceLevel]],
          ['Reported by', counted(distinctReporters, 'network')],
          ['Reports', `${numberText(totalReports)}; one service within ten minutes counts once, whoever reports it`],
          ['Attacked', services.map(({ service }) => labelOf(service)).join(', ')],
          ['First reported', firstReportedAt && <HourAgo key="first" at={firstReportedAt} />],
          ['Last reported', lastReportedAt && <HourAgo key="last" at={lastReportedAt} />],
          ['Counted for', network === ip ? null : `the whole of ${network}`],
        ]}
      />
      {evidence.length > 0 && (
        <Disclosure summary={`Evidence: ${counted(evidence.length, 'line')}`}>
          <Evidence evidence={evidence} labelOf={labelOf} />
        </Disclosure>
      )}
    </>
  )
}

type EvidenceProps = Pick<AddressFacts, 'evidence'> & { labelOf: (service: string) => string }

/** Who reported is a pseudonym that means something for this address only, and times are whole hours. */
function Evidence({ evidence, labelOf }: EvidenceProps) {
  return (
    <Table caption="Evidence" quiet columns={['Service', 'Events', 'When', 'Seen by']}>
      {evidence.map(({ service, port, count, at, reporter }) => (
        <tr key={`${reporter} ${service}`}>
          <th scope="row">
            {labelOf(service)}
            {port !== null && <small>port {port}</small>}
          </th>
          <td>{counted(count, 'event')}</td>
          <td>
            <HourAgo at={at} />
          </td>
          <td data-label="Seen by">
            <code>{reporter}</code>
          </td>
        </tr>
      ))}
    </Table>
  )
}
