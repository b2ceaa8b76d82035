import { Link } from '@tanstack/react-router'
import { SmallDayStrip } from '../ui/charts/small-day-strip.tsx'
import { CardGrid, LinkCard } from '../ui/layout/card-grid.tsx'
import type { Host } from './api.ts'
import { describeDays } from './day-strip.ts'
import {
  availabilityText,
  cards as messages,
  certificateState,
  certificateText,
  hostState,
} from './messages.ts'

/** Monitored hosts as cards, each with its listings of the last days. */
export function HostGrid({ hosts: all }: { hosts: Host[] }) {
  return (
    <CardGrid short>
      {all.map((host) => (
        <HostCard key={host.id} host={host} />
      ))}
    </CardGrid>
  )
}

function HostCard({ host }: { host: Host }) {
  const { id, label, availability } = host
  const state = hostState(host)
  const { certificate } = host
  const tone = certificate && certificateState(certificate.state).tone
  const words = certificate && certificateText(certificate)
  // A certificate with a problem needs the user as much as a listing does.
  const isCertificate = state.tone === 'good' && tone !== null && tone !== 'good'
  return (
    <LinkCard
      title={
        <Link to="/monitoring/$id" params={{ id }} title={host.host}>
          {host.host}
        </Link>
      }
      subtitle={label || messages.noLabel}
      status={isCertificate && words !== null ? { tone, word: words } : state}
      foot={!isCertificate && words !== null && <span>{words}</span>}
    >
      <SmallDayStrip
        {...describeDays(host.days, Date.now())}
        value={availabilityText(availability)}
      />
    </LinkCard>
  )
}
