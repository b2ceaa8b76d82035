import { Status } from '../../ui/feedback/status.tsx'
import type { Column } from '../../ui/lists/column.ts'
import { Ago } from '../../ui/text/ago.tsx'
import { AlertTitle } from '../alert-title.tsx'
import { kindOf } from '../messages.ts'
import type { Incident } from './api.ts'
import { handlingText, incidents as messages, incidentState, SEVERITY_NAMES } from './messages.ts'

const [problem, state, severity, topic, opened, alerts] = messages.columns

const SEVERITY_ORDER = Object.keys(SEVERITY_NAMES)
const topicOf = ({ kind }: Incident) => kindOf(kind)?.name ?? kind

export const INCIDENT_COLUMNS: Column<Incident>[] = [
  {
    key: 'problem',
    title: problem,
    cell: (incident) => <AlertTitle alert={incident} />,
    sort: ({ title }) => title,
    csv: ({ title }) => title,
  },
  {
    key: 'state',
    title: state,
    cell: (incident) => {
      const { tone, word } = incidentState(incident)
      const handling = handlingText(incident)
      return (
        <>
          <Status tone={tone}>{word}</Status>
          {handling && <small>{handling}</small>}
        </>
      )
    },
    sort: (incident) => incidentState(incident).word,
    csv: (incident) => [incidentState(incident).word, handlingText(incident)].join(' ').trim(),
  },
  {
    key: 'severity',
    title: severity,
    cell: (incident) => SEVERITY_NAMES[incident.severity],
    sort: (incident) => SEVERITY_ORDER.indexOf(incident.severity),
    csv: (incident) => SEVERITY_NAMES[incident.severity],
    labelled: true,
    short: true,
  },
  {
    key: 'topic',
    title: topic,
    cell: topicOf,
    sort: topicOf,
    csv: topicOf,
    labelled: true,
    short: true,
  },
  {
    key: 'opened',
    title: opened,
    cell: ({ openedAt }) => <Ago at={openedAt} />,
    sort: ({ openedAt }) => openedAt,
    descendsFirst: true,
    csv: ({ openedAt }) => openedAt,
    labelled: true,
    short: true,
  },
  {
    key: 'alerts',
    title: alerts,
    cell: (incident) => incident.alerts,
    sort: (incident) => incident.alerts,
    descendsFirst: true,
    csv: (incident) => incident.alerts,
    align: 'end',
    labelled: true,
    short: true,
  },
  { key: 'key', title: 'Key', csv: ({ key }) => key },
]
