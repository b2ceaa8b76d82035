import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { openDelistingQuery } from '../delisting/api.ts'
import { Ago } from '../ui/text/ago.tsx'
import { Button, ButtonLink } from '../ui/actions/button.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row, Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { hostQuery, monitoring, type HostDetail, type Listing } from './api.ts'
import { LISTING_STATES } from './messages.ts'

/** Where a host is listed, since when and why, and the way off. */
export function ListingTable({ host }: { host: HostDetail }) {
  const { mute, problem } = useMute(host)
  return (
    <>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <Table caption="Listed on" quiet columns={['Blacklist', 'State', 'Why', 'What to do']}>
        {host.listings.map((listing) => (
          <ListingRow key={`${listing.ip} ${listing.dnsbl}`} listing={listing} onMute={() => void mute(listing)} />
        ))}
      </Table>
    </>
  )
}

/** Not to be asked about this host any more: gone at once, and back when the service says no. */
function useMute(host: HostDetail) {
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')

  async function mute({ dnsbl }: Listing): Promise<void> {
    const { queryKey } = hostQuery(host.id)
    const lists = { ...host.lists, [dnsbl]: 'mute' as const }
    const listings = host.listings.filter((listing) => listing.dnsbl !== dnsbl)
    queries.setQueryData(queryKey, { ...host, lists, listings })
    setProblem('')
    try {
      await monitoring.change(host.id, { lists })
      await queries.invalidateQueries({ queryKey: ['monitoring'] })
    } catch (error) {
      queries.setQueryData(queryKey, host)
      setProblem((error as Error).message)
    }
  }
  return { mute, problem }
}

function ListingRow({ listing, onMute }: { listing: Listing; onMute: () => void }) {
  const { ip, name, dnsbl, category, state, meanings, reason, codes, since } = listing
  const { tone, word } = LISTING_STATES[state]
  return (
    <tr>
      <th scope="row">
        {name}
        <small>
          {category} · {ip}
        </small>
        <small>{dnsbl}</small>
      </th>
      <td>
        <Status tone={tone}>{word}</Status>
        <small>
          since <Ago at={since} />
        </small>
      </td>
      <td>
        {meanings.join('. ') || codes.join(', ')}
        {reason && <small>{reason}</small>}
      </td>
      <td>
        <Row>
          <WayOff listing={listing} />
          <Button size="small" kind="quiet" onClick={onMute}>
            Mute <VisuallyHidden>{name} for this host</VisuallyHidden>
          </Button>
        </Row>
      </td>
    </tr>
  )
}

/** The delisting of this address that is under way, or the way to begin one. */
function WayOff({ listing: { ip, name, category, delistUrl } }: { listing: Listing }) {
  const { data: open } = useQuery(openDelistingQuery(ip))
  if (open) {
    return (
      <Link to="/delisting/$id" params={{ id: open.id }}>
        Delisting under way <VisuallyHidden>of {ip}</VisuallyHidden>
      </Link>
    )
  }
  if (category === 'informational') return <Muted>Says nothing about one address.</Muted>
  return (
    <>
      <ButtonLink size="small" to="/delisting/new" search={{ ip }}>
        Start delisting <VisuallyHidden>{ip}</VisuallyHidden>
      </ButtonLink>
      {delistUrl && (
        <a href={delistUrl} target="_blank" rel="noreferrer">
          Its page <VisuallyHidden>about leaving {name}</VisuallyHidden>
        </a>
      )}
    </>
  )
}
