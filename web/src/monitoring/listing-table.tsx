import { AddressLink } from '../addresses/address-link.tsx'
import { useQuery, useQueryClient } from '@tanstack/react-query'
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
import { listings as messages, LISTING_STATES } from './messages.ts'
import { useAccess } from '../workspaces/roles.ts'

/** Listings of a host with reason and action. */
export function ListingTable({ host }: { host: HostDetail }) {
  const { mute, problem } = useMute(host)
  return (
    <>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <Table caption={messages.caption} quiet columns={messages.columns}>
        {host.listings.map((listing) => (
          <ListingRow
            key={`${listing.ip} ${listing.dnsbl}`}
            listing={listing}
            onMute={() => void mute(listing)}
          />
        ))}
      </Table>
    </>
  )
}

/**
 * Mutes a blocklist for this host. The listing disappears at once, and returns if the request
 * fails.
 */
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
  const access = useAccess()
  const { ip, name, dnsbl, category, state, meanings, reason, codes, since } = listing
  const { tone, word } = LISTING_STATES[state]
  return (
    <tr>
      <th scope="row">
        {name}
        <small>
          {category} · <AddressLink address={ip} />
        </small>
        <small>{dnsbl}</small>
      </th>
      <td>
        <Status tone={tone}>{word}</Status>
        <small>
          {messages.since} <Ago at={since} />
        </small>
      </td>
      <td>
        {meanings.join('. ') || codes.join(', ')}
        {reason && <small>{reason}</small>}
      </td>
      <td>
        <Row>
          <RemovalPage listing={listing} />
          <Button {...access} size="small" kind="quiet" onClick={onMute}>
            {messages.mute} <VisuallyHidden>{messages.muteAbout(name)}</VisuallyHidden>
          </Button>
        </Row>
      </td>
    </tr>
  )
}

/** The removal page of the list, or why there is none for a single address. */
function RemovalPage({ listing: { name, category, delistUrl } }: { listing: Listing }) {
  if (category === 'informational') return <Muted>{messages.informational}</Muted>
  if (!delistUrl) return null
  return (
    <a href={delistUrl} target="_blank" rel="noreferrer">
      {messages.page} <VisuallyHidden>{messages.pageAbout(name)}</VisuallyHidden>
    </a>
  )
}

/** Starts the delisting of each listed address, which is about all of its lists. */
export function DelistingActions({ listings }: { listings: Listing[] }) {
  const delistable = listings.filter(({ category }) => category !== 'informational')
  const addresses = [...new Set(delistable.map(({ ip }) => ip))]
  return (
    <Row>
      {addresses.map((ip) => (
        <DelistingAction key={ip} ip={ip} />
      ))}
    </Row>
  )
}

/** A link to the running delisting of this address, or a button that starts one. */
function DelistingAction({ ip }: { ip: string }) {
  const access = useAccess()
  const { data: open } = useQuery(openDelistingQuery(ip))
  return open ? (
    <ButtonLink size="small" to="/delisting/$id" params={{ id: open.id }}>
      {messages.viewDelisting(ip)}
    </ButtonLink>
  ) : (
    <ButtonLink {...access} size="small" to="/delisting/new" search={{ ip }}>
      {messages.startDelisting(ip)}
    </ButtonLink>
  )
}
