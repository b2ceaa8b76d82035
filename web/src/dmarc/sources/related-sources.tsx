import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Section, Muted } from '../../ui/layout/page.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { counted } from '../../ui/text/format.ts'
import { summaryQuery, type Source } from '../api.ts'
import { daysParameter, type SummaryDays } from '../search.ts'
import { shareText, sourceName, sourceTone } from '../words.ts'

/** Rows of those that are run by the same people. */
const SOME = 10

/** A service sends from many addresses: what is set up for one is set up for all. */
export function RelatedSources({ id, days, source }: { id: string; days: SummaryDays; source: Source }) {
  const { sourceIp, organizationalDomain, reverseConfirmed } = source
  const isKnown = organizationalDomain !== null && reverseConfirmed
  const { data: summary } = useQuery({ ...summaryQuery(id, days), enabled: isKnown })
  const others = (summary?.sources ?? []).filter(
    (other) =>
      other.reverseConfirmed && other.organizationalDomain === organizationalDomain && other.sourceIp !== sourceIp,
  )
  if (!isKnown || others.length === 0) return null
  const title = `Others of ${organizationalDomain}`
  return (
    <Section title={title} aside={<Muted>{counted(others.length, 'more source')}</Muted>}>
      <Table caption={title} quiet even columns={['Source', 'Messages', 'Passed']}>
        {others.slice(0, SOME).map((other) => (
          <tr key={other.sourceIp}>
            <th scope="row">
              <Link
                to="/dmarc/$id/sources/$address"
                params={{ id, address: other.sourceIp }}
                search={{ days: daysParameter(days) }}
              >
                {sourceName(other)}
              </Link>
              <small>{other.sourceIp}</small>
            </th>
            <td>{counted(other.messages, 'message')}</td>
            <td>
              <Status tone={sourceTone(other)}>{`${shareText(other.pass, other.messages)} passed`}</Status>
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}
