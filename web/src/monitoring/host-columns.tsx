import { LABELS_COLUMN, LabelLine } from '../labels/labels-column.tsx'
import { Link } from '@tanstack/react-router'
import { Status } from '../ui/feedback/status.tsx'
import { Muted } from '../ui/layout/page.tsx'
import type { Column } from '../ui/lists/column.ts'
import { Ago } from '../ui/text/ago.tsx'
import type { Host } from './api.ts'
import {
  availabilityText,
  create,
  describeAnswers,
  hosts as messages,
  hostState,
} from './messages.ts'
import { STATUS_ORDER } from './sort-hosts.ts'

const [hostTitle, statusTitle, availabilityTitle, lastCheckTitle] = messages.columns

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
    sort: ({ host }) => host,
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
    sort: ({ status, listedCount }) => STATUS_ORDER.indexOf(status) * 1e6 - listedCount,
    csv: (host) => hostState(host).word,
  },
  { key: 'listings', title: messages.listings, csv: ({ listedCount }) => listedCount },
  { key: 'unknown', title: messages.unknown, csv: ({ unknownCount }) => unknownCount },
  {
    key: 'clean',
    title: availabilityTitle,
    cell: ({ availability }) => {
      const available = availabilityText(availability)
      return available ? messages.clean(available) : <Muted>{messages.noAvailability}</Muted>
    },
    sort: ({ availability }) => availability.percent,
    csv: ({ availability }) => availabilityText(availability) ?? '',
  },
  {
    key: 'checked',
    title: lastCheckTitle,
    cell: ({ lastCheckAt }) => (
      <Muted>{lastCheckAt ? <Ago at={lastCheckAt} /> : messages.notChecked}</Muted>
    ),
    sort: ({ lastCheckAt }) => lastCheckAt,
    descendsFirst: true,
    csv: ({ lastCheckAt }) => lastCheckAt,
  },
]
