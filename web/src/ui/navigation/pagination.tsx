import { Button } from '../actions/button.tsx'
import classes from './pagination.module.css'

type PaginationProps = { page: number; totalPages: number; onGo: (page: number) => void }

/** The way through a list that is longer than a page. */
export function Pagination({ page, totalPages, onGo }: PaginationProps) {
  if (totalPages <= 1) return null
  return (
    <nav className={classes.pages} aria-label="Pages">
      <Button size="small" disabled={page <= 1} onClick={() => onGo(page - 1)}>
        Newer
      </Button>
      <span>
        Page {page} of {totalPages}
      </span>
      <Button size="small" disabled={page >= totalPages} onClick={() => onGo(page + 1)}>
        Older
      </Button>
    </nav>
  )
}
