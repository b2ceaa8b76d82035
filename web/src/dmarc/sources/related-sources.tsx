import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Status } from '../../ui/feedback/status.tsx'
import { Section, Muted } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { counted } from '../../ui/text/format.ts'
import { summaryQuery, type Source } from '../api.ts'
import { shared, source as messages } from '../messages.ts'
import type { Period } from '../search.ts'
import { shareText } from '../share-text.ts'
import { sourceTone } from '../tones.ts'
import { SourceLabel } from './source-label.tsx'
import { sourceName } from './source-labels.ts'

const MAX_ROWS = 10

type RelatedSourcesProps = { id: string; period: Period; source: Source }

/**
 * Sources of the same organization: a service sends from many addresses and is set up once for all.
 */
export function RelatedSources({ id, period, source }: RelatedSourcesProps) {
  const { sourceIp, organizationalDomain, reverseConfirmed } = source
  const isKnown = organizationalDomain !== null && reverseConfirmed
  const { data: summary } = useQuery({ ...summaryQuery(id, period), enabled: isKnown })
  const others = (summary?.sources ?? []).filter(
    (other) =>
      other.reverseConfirmed &&
      other.organizationalDomain === organizationalDomain &&
      other.sourceIp !== sourceIp,
  )
  if (!isKnown || others.length === 0) return null
  const title = messages.related(organizationalDomain)
  return (
    <Section title={title} aside={<Muted>{counted(others.length, messages.moreSources)}</Muted>}>
      <Table caption={title} quiet even columns={[shared.source, shared.messages, shared.passed]}>
        {others.slice(0, MAX_ROWS).map((other) => (
          <tr key={other.sourceIp}>
            <th scope="row">
              <Link
                to="/dmarc/$id/sources/$address"
                params={{ id, address: other.sourceIp }}
                search={period}
              >
                {sourceName(other)}
              </Link>
              <SourceLabel source={other} />
            </th>
            <td>{counted(other.messages, shared.message)}</td>
            <td>
              <Status tone={sourceTone(other)}>
                {shared.passedShare(shareText(other.pass, other.messages))}
              </Status>
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}
