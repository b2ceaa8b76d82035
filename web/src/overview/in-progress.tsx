import { Link } from '@tanstack/react-router'
import { summarizeDelisting as sentenceOfCase } from '../delisting/delisting-status.ts'
import type { Listed } from '../migrations/api.ts'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Section } from '../ui/layout/page.tsx'
import type { Work } from './find-in-progress.ts'
import { inProgress as messages, overview } from './messages.ts'

/** Migrations and delistings that run without the user. */
export function InProgress({ cases, migrations }: Work) {
  if (cases.length + migrations.length === 0) return null
  return (
    <Section title={overview.inProgress}>
      <List>
        {migrations.map((migration) => (
          <MigrationItem key={migration.migrationId} migration={migration} />
        ))}
        {cases.map((it) => (
          <ListItem
            key={it.id}
            title={
              <Link to="/delisting/$id" params={{ id: it.id }}>
                {messages.delisting(it.ip)}
              </Link>
            }
          >
            {sentenceOfCase(it)}
          </ListItem>
        ))}
      </List>
    </Section>
  )
}

function MigrationItem({ migration }: { migration: Listed }) {
  const { migrationId: id, srcUser, dryRun, progress, totalMessages } = migration
  const { messagesDone, messagesTotal } = progress
  return (
    <ListItem
      title={
        <Link to="/migrations/$id" params={{ id }}>
          {messages.migration(srcUser, dryRun)}
        </Link>
      }
    >
      {messages.messages(messagesDone, messagesTotal)}
      {totalMessages > 0 && (
        <ProgressBar
          label={messages.progressLabel(srcUser)}
          done={messagesDone}
          total={messagesTotal}
        />
      )}
    </ListItem>
  )
}
