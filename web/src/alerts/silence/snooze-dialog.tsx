import { useQueryClient } from '@tanstack/react-query'
import { FormDialog } from '../../ui/layout/form-dialog.tsx'
import { actWithUndo } from '../incidents/act-with-undo.ts'
import { incidents, type Incident } from '../incidents/api.ts'
import { done } from '../incidents/messages.ts'
import { DurationFields } from './duration-fields.tsx'
import { durationOf, durationProblems, MAX_SNOOZE_DAYS, SNOOZE_CHOICES } from './durations.ts'
import { snoozeDialog as messages } from './messages.ts'

type SnoozeDialogProps = { rows: Incident[]; onClose: () => void }

/** Snoozes problems for a duration, or until a date and time. */
export function SnoozeDialog({ rows, onClose }: SnoozeDialogProps) {
  const queries = useQueryClient()
  return (
    <FormDialog
      title={messages.title(rows.length)}
      submit={messages.submit}
      check={(values) => durationProblems(values, MAX_SNOOZE_DAYS)}
      onClose={onClose}
      onSubmit={(values) =>
        actWithUndo(queries, {
          rows,
          nameOf: ({ title }) => title,
          text: done.snoozed(rows),
          async send({ id }) {
            await incidents.snooze(id, durationOf(values))
            return () => incidents.unsnooze(id)
          },
        })
      }
    >
      <p>{messages.text}</p>
      <DurationFields choices={SNOOZE_CHOICES} />
    </FormDialog>
  )
}
