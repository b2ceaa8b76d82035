import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Section } from '../ui/layout/page.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { workspaces, workspacesQuery, type Workspace } from './api.ts'
import { settings as messages } from './messages.ts'

/** The workspaces that were deleted within the last days, to restore them. */
export function DeletedWorkspaces({ all }: { all: Workspace[] }) {
  const queries = useQueryClient()
  const [{ busy, problem }, setState] = useState({ busy: '', problem: '' })
  const deleted = all.filter(({ deleteAfter }) => deleteAfter !== null)
  if (deleted.length === 0) return null

  async function restore(id: string): Promise<void> {
    setState({ busy: id, problem: '' })
    try {
      await workspaces.restore(id)
      await queries.invalidateQueries(workspacesQuery)
      setState({ busy: '', problem: '' })
    } catch (error) {
      setState({ busy: '', problem: (error as Error).message })
    }
  }

  return (
    <Section title={messages.restoreSection}>
      <List>
        {deleted.map(({ id, name, deleteAfter }) => (
          <ListItem
            key={id}
            title={name}
            action={
              <Button size="small" busy={busy === id} onClick={() => void restore(id)}>
                {messages.restore} <VisuallyHidden>{name}</VisuallyHidden>
              </Button>
            }
          >
            {messages.restoreUntil} <DateText at={deleteAfter ?? ''} />
          </ListItem>
        ))}
      </List>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </Section>
  )
}
