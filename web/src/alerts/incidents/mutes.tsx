import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../ui/actions/button.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { List, ListItem } from '../../ui/lists/list.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { actWithUndo } from './act-with-undo.ts'
import { endMute, mutes, mutesQuery, type Mute } from './api.ts'
import { done, mutes as messages } from './messages.ts'

/** The mutes in force; nothing without any. */
export function MutesSection({ mutes: shown }: { mutes: Mute[] }) {
  const access = useAccess()
  const unmute = useUnmute()
  if (shown.length === 0) return null
  return (
    <Section title={messages.title}>
      <List>
        {shown.map((mute) => (
          <ListItem
            key={mute.id}
            title={messages.nameOf(mute)}
            action={
              <Button {...access} size="small" kind="quiet" onClick={() => unmute(mute)}>
                {messages.unmute} <VisuallyHidden>{messages.nameOf(mute)}</VisuallyHidden>
              </Button>
            }
          >
            <Muted>{messages.details(mute)}</Muted>
          </ListItem>
        ))}
      </List>
    </Section>
  )
}

type MuteButtonProps = {
  /** The page of the object, such as `/monitoring/ID`. */
  object: string
  name: string
  size?: 'small'
}

/** Mutes and unmutes alerts about one object. */
export function MuteButton({ object, name, size }: MuteButtonProps) {
  const { data } = useQuery(mutesQuery)
  const access = useAccess()
  const queries = useQueryClient()
  const unmute = useUnmute()
  const look = { ...access, kind: 'quiet' as const, ...(size && { size }) }
  const muted = data?.find((mute) => mute.object === object && mute.kind === null)
  if (muted)
    return (
      <Button {...look} onClick={() => unmute(muted)}>
        {messages.unmuteAlerts}
      </Button>
    )
  return (
    <Button
      {...look}
      onClick={() =>
        void actWithUndo(queries, {
          rows: [name],
          nameOf: (row) => row,
          text: done.mutedObject(name),
          async send() {
            const { id } = await mutes.add({ object, label: name })
            return () => mutes.remove(id)
          },
        })
      }
    >
      {messages.muteAlerts}
    </Button>
  )
}

function useUnmute() {
  const queries = useQueryClient()
  return (mute: Mute) =>
    void actWithUndo(queries, {
      rows: [mute],
      nameOf: messages.nameOf,
      text: done.unmutedObject(messages.nameOf(mute)),
      send: endMute,
    })
}
