package redis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/inplace"
	"svc/tools/upgrade/setsum"
)

// Keys that expire are taken together by when they do: what has expired by the
// time of comparing is passed over, and all else has to be there.
const expirySpan = 5 * time.Minute

// Stock takes a digest of every key: its name, type, value and time to live.
func (r *Upgrade) Stock(ctx context.Context, h *engine.Host, dir string) (inplace.Stock, error) {
	has := inplace.Stock{}
	err := r.privately(ctx, h, dir, func(_ context.Context, c *resp) error {
		databases, err := strconv.Atoi(r.Config.Databases)
		if err != nil {
			return fmt.Errorf("reading how many databases there are: %w", err)
		}
		if _, err := c.do("DEBUG", "SET-ACTIVE-EXPIRE", "0"); err != nil {
			return err
		}
		for n := range databases {
			if err := readDatabase(has, c, n); err != nil {
				return fmt.Errorf("reading database %d: %w", n, err)
			}
		}
		return readFunctions(has, c)
	})
	return has, err
}

// readAgain is how often a database is read whose keys the server gives twice while
// it moves them in memory.
const readAgain = 20

var errTwice = errors.New("the server gives some keys twice")

// readDatabase adds the keys of one of the databases.
func readDatabase(s inplace.Stock, c *resp, n int) error {
	if _, err := c.do("SELECT", strconv.Itoa(n)); err != nil {
		return err
	}
	for try := 0; ; try++ {
		sums, err := scan(c)
		if errors.Is(err, errTwice) && try < readAgain {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for until, sum := range sums {
			s[strings.TrimSpace(fmt.Sprintf("database %d %s", n, until))] = sum.String()
		}
		return err
	}
}

// scan reads every key of a database.
func scan(c *resp) (map[string]*setsum.Sum, error) {
	sums, cursor, seen := map[string]*setsum.Sum{}, "0", int64(0)
	size, err := c.do("DBSIZE")
	if err != nil {
		return nil, err
	}
	for {
		answer, err := c.do("SCAN", cursor, "COUNT", "1000")
		if err != nil {
			return nil, err
		}
		list, _ := answer.([]any)
		if len(list) != 2 {
			return nil, errRESP
		}
		keys := texts(list[1])
		if err := digests(c, keys, sums); err != nil {
			return nil, err
		}
		seen += int64(len(keys))
		if cursor, _ = list[0].(string); cursor == "0" {
			break
		}
	}
	if total, _ := size.(int64); seen > total {
		return nil, errTwice
	}
	return sums, nil
}

// digests adds the keys to their sums.
func digests(c *resp, keys []string, sums map[string]*setsum.Sum) error {
	if len(keys) == 0 {
		return nil
	}
	commands := [][]string{append([]string{"DEBUG", "DIGEST-VALUE"}, keys...)}
	for _, key := range keys {
		commands = append(commands, []string{"TYPE", key}, []string{"PEXPIRETIME", key})
	}
	answers, err := c.pipeline(commands)
	if err != nil {
		return err
	}
	values := texts(answers[0])
	if len(values) != len(keys) {
		return fmt.Errorf("%w: %v", errRESP, answers[0])
	}
	for i, key := range keys {
		kind, _ := answers[2*i+1].(string)
		expires, ok := answers[2*i+2].(int64)
		switch {
		case !ok:
			return fmt.Errorf("%w: %v", errRESP, answers[2*i+2])
		case expires == -2: // it has just expired
			continue
		}
		until := expiry(expires)
		if sums[until] == nil {
			sums[until] = &setsum.Sum{}
		}
		sums[until].Add(sha256.Sum256(fmt.Appendf(nil, "%q %s %s %d", key, kind, values[i], expires)))
	}
	return nil
}

// expiry names the span in which a key expires, by its beginning; a key that
// does not expire is in none.
func expiry(milliseconds int64) string {
	if milliseconds < 0 {
		return ""
	}
	return "until " + time.UnixMilli(milliseconds).UTC().Truncate(expirySpan).Format(time.RFC3339)
}

// readFunctions adds the libraries of functions.
func readFunctions(s inplace.Stock, c *resp) error {
	answer, err := c.do("FUNCTION", "LIST", "WITHCODE")
	if err != nil {
		return err
	}
	list, _ := answer.([]any)
	for _, library := range list {
		fields, _ := library.([]any)
		values := map[string]string{}
		for i := 0; i+1 < len(fields); i += 2 {
			key, _ := fields[i].(string)
			values[key], _ = fields[i+1].(string)
		}
		code := sha256.Sum256([]byte(values["library_code"]))
		s["functions "+values["library_name"]] = hex.EncodeToString(code[:])
	}
	return nil
}

// Same passes over keys that have expired, or do right now.
func (r *Upgrade) Same(before, after inplace.Stock) error {
	now := time.Now()
	before, after = lasting(before, now), lasting(after, now)
	return inplace.Differences("the upgraded copy", before, after)
}

// lasting leaves out what expires before a span has begun.
func lasting(s inplace.Stock, now time.Time) inplace.Stock {
	last := inplace.Stock{}
	for what, value := range s {
		_, until, expires := strings.Cut(what, " until ")
		if at, err := time.Parse(time.RFC3339, until); !expires || err != nil || at.After(now) {
			last[what] = value
		}
	}
	return last
}
