import { useQueryClient } from '@tanstack/react-query'
import { SelectField, TextField } from '../../ui/forms/form.tsx'
import { FormDialog } from '../../ui/layout/form-dialog.tsx'
import { actWithUndo } from '../incidents/act-with-undo.ts'
import { mutes, type Incident } from '../incidents/api.ts'
import { done } from '../incidents/messages.ts'
import { ALERT_KINDS, kindOf } from '../messages.ts'
import { DurationFields } from './duration-fields.tsx'
import { durationOf, durationProblems, MAX_MUTE_DAYS, MUTE_CHOICES } from './durations.ts'
import { muteDialog as messages } from './messages.ts'

/** What is muted: problems or their topic, an object with its page, or a topic. */
export type MuteSubject =
  | { incidents: Incident[] }
  | { object: string; name: string }
  | { topics: true }

type Muted = { name: string; object?: string; kind?: string; label?: string }

type MuteDialogProps = { subject: MuteSubject; onClose: () => void }

/** Mutes alerts for a duration, until a date and time, or without an end. */
export function MuteDialog({ subject, onClose }: MuteDialogProps) {
  const queries = useQueryClient()
  return (
    <FormDialog
      title={titleOf(subject)}
      submit={messages.submit}
      check={(values) => durationProblems(values, MAX_MUTE_DAYS)}
      onClose={onClose}
      onSubmit={(values) => {
        const rows = mutedBy(subject, values['scope'] ?? '')
        const { reason = '' } = values
        return actWithUndo(queries, {
          rows,
          nameOf: ({ name }) => name,
          text: done.muted(rows.map(({ name }) => name)),
          async send({ name: _name, ...muted }) {
            const { id } = await mutes.add({ ...muted, reason, ...durationOf(values) })
            return () => mutes.remove(id)
          },
        })
      }}
    >
      <p>{messages.text}</p>
      <Scope subject={subject} />
      <DurationFields choices={MUTE_CHOICES} />
      <TextField name="reason" autoComplete="on" label={messages.reason} maxLength={200} />
    </FormDialog>
  )
}

function titleOf(subject: MuteSubject): string {
  if ('incidents' in subject) return messages.title(subject.incidents.length)
  return 'object' in subject ? messages.objectTitle(subject.name) : messages.topicTitle
}

/** The choice between problems and their topics, or of a topic. */
function Scope({ subject }: { subject: MuteSubject }) {
  if ('object' in subject) return null
  if ('topics' in subject) {
    const choices = Object.entries(ALERT_KINDS).map(([value, { name }]) => ({ value, label: name }))
    return <SelectField name="scope" label={messages.topic} choices={choices} />
  }
  const { incidents } = subject
  const topics = [...new Set(incidents.map(({ kind }) => topicOf(kind)))]
  return (
    <SelectField
      name="scope"
      label={messages.scope}
      choices={[
        { value: '', label: messages.onlyThese(incidents.length) },
        ...topics.map((value) => ({ value, label: messages.ofTopic(topicName(value)) })),
      ]}
    />
  )
}

const topicOf = (kind: string) => kind.split('.')[0] ?? kind
const topicName = (topic: string) => kindOf(topic)?.name ?? topic

function mutedBy(subject: MuteSubject, topic: string): Muted[] {
  if ('object' in subject) {
    const { object, name } = subject
    return [{ name, object, label: name }]
  }
  if (topic !== '' || !('incidents' in subject)) return [{ name: topicName(topic), kind: topic }]
  return subject.incidents.map(({ key, title }) => ({ name: title, object: key, label: title }))
}
