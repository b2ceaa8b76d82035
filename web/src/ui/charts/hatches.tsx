import type { Look } from './look.ts'
import classes from './looks.module.css'

/** The hatches of one chart, which `hatchOf` refers to. */
export function Hatches({ id }: { id: string }) {
  return (
    <defs>
      <pattern
        id={`${id}-bad`}
        width={4}
        height={4}
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect className={classes.ground} width={4} height={4} />
        <line className={classes.badLine} y2={4} />
      </pattern>
      <pattern
        id={`${id}-unknown`}
        width={6}
        height={6}
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(-45)"
      >
        <rect className={classes.ground} width={6} height={6} />
        <line className={classes.unknownLine} y2={6} />
      </pattern>
    </defs>
  )
}

/** The fill of a hatched look; undefined where the style sheet has a plain one. */
export function hatchOf(look: Look, id: string): string | undefined {
  return look === 'bad' || look === 'unknown' ? `url(#${id}-${look})` : undefined
}
