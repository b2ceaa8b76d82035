import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { loadLater } from '../../frame/load-later.tsx'
import { Button } from '../../ui/actions/button.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { List, ListItem } from '../../ui/lists/list.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { actWithUndo } from '../incidents/act-with-undo.ts'
import { endMute, mutesQuery, type Mute } from '../incidents/api.ts'
import { done, mutes as messages } from '../incidents/messages.ts'

const MuteDialog = loadLater(
  'the dialog to mute alerts',
  async () => (await import('./mute-dialog.tsx')).MuteDialog,
)

/** The mutes in force, and a button to mute a topic. */
export function MutesSection({ mutes: shown }: { mutes: Mute[] }) {
  const access = useAccess()
  const unmute = useUnmute()
  const [isMuting, setMuting] = useState(false)
  return (
    <Section
      title={messages.title}
      aside={
        <Button {...access} size="small" onClick={() => setMuting(true)}>
          {messages.muteTopic}
        </Button>
      }
    >
      {isMuting && <MuteDialog subject={{ topics: true }} onClose={() => setMuting(false)} />}
      {shown.length === 0 && <Muted>{messages.none}</Muted>}
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
  const unmute = useUnmute()
  const [isMuting, setMuting] = useState(false)
  const look = { ...access, kind: 'quiet' as const, ...(size && { size }) }
  const muted = data?.find((mute) => mute.object === object && mute.kind === null)
  if (muted)
    return (
      <Button {...look} onClick={() => unmute(muted)}>
        {messages.unmuteAlerts}
      </Button>
    )
  return (
    <>
      <Button {...look} onClick={() => setMuting(true)}>
        {messages.muteAlerts}
      </Button>
      {isMuting && <MuteDialog subject={{ object, name }} onClose={() => setMuting(false)} />}
    </>
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
