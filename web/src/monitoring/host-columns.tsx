import { LABELS_COLUMN, LabelLine } from '../labels/labels-column.tsx'
import { Link } from '@tanstack/react-router'
import { Status } from '../ui/feedback/status.tsx'
import { Muted } from '../ui/layout/page.tsx'
import type { Column } from '../ui/lists/column.ts'
import { Ago } from '../ui/text/ago.tsx'
import type { Host } from './api.ts'
import {
  availabilityText,
  certificateStatus,
  create,
  describeAnswers,
  hosts as messages,
  hostState,
} from './messages.ts'

const [hostTitle, statusTitle, certificateTitle, availabilityTitle, lastCheckTitle] =
  messages.columns

/** The columns that the API sorts by. */
export const HOST_SORTS = ['host', 'status', 'availability', 'lastCheckAt'] as const

export const HOST_COLUMNS: Column<Host>[] = [
  {
    key: 'host',
    title: hostTitle,
    cell: ({ id, host, label, labels }) => (
      <>
        <Link to="/monitoring/$id" params={{ id }}>
          {host}
        </Link>
        {label && <small>{label}</small>}
        <LabelLine labels={labels} />
      </>
    ),
    csv: ({ host }) => host,
  },
  { key: 'label', title: create.label, csv: ({ label }) => label },
  LABELS_COLUMN,
  {
    key: 'status',
    title: statusTitle,
    cell: (host) => {
      const { tone, word } = hostState(host)
      return (
        <>
          <Status tone={tone}>{word}</Status>
          <small>{describeAnswers(host)}</small>
        </>
      )
    },
    csv: (host) => hostState(host).word,
  },
  { key: 'listings', title: messages.listings, csv: ({ listedCount }) => listedCount },
  { key: 'unknown', title: messages.unknown, csv: ({ unknownCount }) => unknownCount },
  {
    key: 'certificate',
    title: certificateTitle,
    cell: ({ certificate }) => {
      if (!certificate) return <Muted>{messages.noCertificate}</Muted>
      const { tone, word } = certificateStatus(certificate)
      return <Status tone={tone}>{word}</Status>
    },
    csv: ({ certificate }) => certificate && certificateStatus(certificate).word,
  },
  {
    key: 'availability',
    title: availabilityTitle,
    cell: ({ availability }) => {
      const available = availabilityText(availability)
      return available ? (
        messages.clean(available, knownDays(availability))
      ) : (
        <Muted>{messages.noAvailability}</Muted>
      )
    },
    csv: ({ availability }) => availabilityText(availability) ?? '',
  },
  {
    key: 'lastCheckAt',
    title: lastCheckTitle,
    cell: ({ lastCheckAt }) => (
      <Muted>{lastCheckAt ? <Ago at={lastCheckAt} /> : messages.notChecked}</Muted>
    ),
    descendsFirst: true,
    csv: ({ lastCheckAt }) => lastCheckAt,
  },
]

const DAY_SECONDS = 86_400

/** Days that a host has been monitored, up to those of its availability. */
function knownDays({ cleanSeconds, listedSeconds, unknownSeconds }: Host['availability']): number {
  return Math.round((cleanSeconds + listedSeconds + unknownSeconds) / DAY_SECONDS)
}
