import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Choice } from '../../ui/forms/choice.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { DataTable } from '../../ui/lists/data-table.tsx'
import { MuteDialog } from '../silence/mute-dialog.tsx'
import { SnoozeDialog } from '../silence/snooze-dialog.tsx'
import type { Incident } from './api.ts'
import { useIncidentActions, type OpenDialog } from './incident-actions.ts'
import { INCIDENT_COLUMNS } from './incident-columns.tsx'
import { incidents as messages } from './messages.ts'

type IncidentsProps = { incidents: Incident[]; total: number }

/** The problems of a workspace as a table, with what can be done with several of them. */
export function IncidentsSection({ incidents, total }: IncidentsProps) {
  const [dialog, setDialog] = useState<{ kind: 'snooze' | 'mute'; rows: Incident[] } | null>(null)
  const close = () => setDialog(null)
  return (
    <Section title={messages.title}>
      <Incidents
        incidents={incidents}
        total={total}
        openDialog={(kind, rows) => setDialog({ kind, rows })}
      />
      {dialog?.kind === 'snooze' && <SnoozeDialog rows={dialog.rows} onClose={close} />}
      {dialog?.kind === 'mute' && (
        <MuteDialog subject={{ incidents: dialog.rows }} onClose={close} />
      )}
    </Section>
  )
}

function Incidents({ incidents, total, openDialog }: IncidentsProps & { openDialog: OpenDialog }) {
  const { state = 'open' } = useSearch({ from: '/own/alerts' })
  const navigate = useNavigate({ from: '/alerts' })
  const shown = incidents.filter((incident) => state === 'all' || incident.state === state)
  return (
    <>
      <Summary incidents={incidents} />
      <DataTable
        caption={messages.caption}
        columns={INCIDENT_COLUMNS}
        rows={shown}
        rowId={({ id }) => id}
        nameOf={({ title }) => title}
        count={messages.count}
        filterLabel={messages.filter}
        filters={
          <Choice
            size="normal"
            label={messages.stateFilter}
            choices={messages.states}
            value={state}
            onChange={(value) =>
              void navigate({
                search: (before) => ({ ...before, state: value === 'open' ? undefined : value }),
                replace: true,
                resetScroll: false,
              })
            }
          />
        }
        actions={useIncidentActions(openDialog)}
        csvName="problems"
      />
      {total > incidents.length && <Muted>{messages.truncated(incidents.length, total)}</Muted>}
    </>
  )
}

function Summary({ incidents }: { incidents: Incident[] }) {
  const open = incidents.filter(({ state }) => state === 'open')
  const unhandled = open.filter(
    ({ acknowledgedAt, snoozedUntil, mute }) =>
      acknowledgedAt === null && snoozedUntil === null && mute === null,
  )
  return (
    <p role="status">
      <strong>{open.length === 0 ? messages.none : messages.open(open.length)}</strong>{' '}
      {open.length > 0 ? (
        messages.unhandled(unhandled.length)
      ) : (
        <>
          {messages.resolved(incidents.length)}{' '}
          <Link to="/alerts" search={{ state: 'resolved' }}>
            {messages.showResolved}
          </Link>
        </>
      )}
    </p>
  )
}
