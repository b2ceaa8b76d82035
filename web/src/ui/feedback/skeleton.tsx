import { VisuallyHidden } from '../text/visually-hidden.tsx'
import { markLoading } from './mark-loading.ts'
import classes from './skeleton.module.css'
import { messages } from '../messages.ts'

/**
 * What comes: paragraphs, rows of a table, items of a list, the fields of a form, cards
 * one below or beside the other, or a chart.
 */
export type SkeletonShape = 'text' | 'table' | 'list' | 'form' | 'cards' | 'grid' | 'chart'

/** The outline of content that is loading, hidden from screen readers. */
export function Skeleton({ shape = 'text', lines }: { shape?: SkeletonShape; lines: number }) {
  return (
    <div className={classes.skeleton} data-shape={shape} aria-hidden="true">
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className={classes.part}>
          <span className={classes.bar} />
          <span className={classes.bar} />
        </div>
      ))}
    </div>
  )
}

/** The outline of a screen whose file is loading. */
export function ScreenSkeleton() {
  return (
    <div ref={markLoading} className={classes.screen} role="status" data-loading>
      <VisuallyHidden>{messages.loadingScreen}</VisuallyHidden>
      <span className={classes.title} aria-hidden="true" />
      <Skeleton lines={2} />
      <Skeleton shape="list" lines={4} />
    </div>
  )
}
