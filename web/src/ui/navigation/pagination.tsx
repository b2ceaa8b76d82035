import { Button } from '../actions/button.tsx'
import classes from './pagination.module.css'

type PagesProps = { page: number; totalPages: number; onGo: (page: number) => void }

/** The way through a list that is longer than a page. */
export function Pages({ page, totalPages, onGo }: PagesProps) {
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
