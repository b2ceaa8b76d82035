import { Button } from '../actions/button.tsx'
import classes from './pagination.module.css'
import { messages } from '../messages.ts'

export type PaginationProps = { page: number; totalPages: number; onGo: (page: number) => void }

/** Buttons to the previous and next page of a list. */
export function PaginationLinks({ page, totalPages, onGo }: PaginationProps) {
  if (totalPages <= 1 && page <= 1) return null
  if (totalPages > 0 && page > totalPages)
    return (
      <p>
        {messages.pagination.behindLast(page)}{' '}
        <Button size="small" onClick={() => onGo(totalPages)}>
          {messages.pagination.last}
        </Button>
      </p>
    )
  return (
    <nav className={classes.pages} aria-label={messages.pagination.label}>
      <Button size="small" disabled={page <= 1} onClick={() => onGo(page - 1)}>
        {messages.pagination.previous}
      </Button>
      <span>{messages.pagination.position(page, totalPages)}</span>
      <Button size="small" disabled={page >= totalPages} onClick={() => onGo(page + 1)}>
        {messages.pagination.next}
      </Button>
    </nav>
  )
}
