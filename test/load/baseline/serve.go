package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// request is the body of POST /v1/payments.
type request struct {
	Merchant  int64  `json:"merchant"`
	Reference string `json:"reference"`
	Payer     int64  `json:"payer"`
	Amount    int64  `json:"amount"`
}

// payment is the answer.
type payment struct {
	ID        int64     `json:"id"`
	Merchant  int64     `json:"merchant"`
	Reference string    `json:"reference"`
	Payer     int64     `json:"payer"`
	Amount    int64     `json:"amount"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"created_at"`
}

// server is the baseline of the api.
type server struct{ db *pgxpool.Pool }

func serve(ctx context.Context, db *pgxpool.Pool, o options) error {
	s := server{db}
	router := chi.NewRouter()
	router.Post("/v1/payments", s.create)
	router.Get("/v1/payments/{id}", s.get)
	http := &http.Server{Addr: o.listen, Handler: router}
	stop := context.AfterFunc(ctx, func() { _ = http.Close() })
	defer stop()
	return unlessStopped(ctx, http.ListenAndServe())
}

// unlessStopped returns err, or nil if ctx has ended.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (s server) create(w http.ResponseWriter, r *http.Request) {
	var asked request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	made := payment{Merchant: asked.Merchant, Reference: asked.Reference, Payer: asked.Payer, Amount: asked.Amount, Status: "SUCCESS"}
	err := s.db.QueryRow(r.Context(), "select pay($1, $2, $3, $4), now()", asked.Merchant, asked.Reference, asked.Payer, asked.Amount).
		Scan(&made.ID, &made.CreatedAt)
	answer(w, http.StatusCreated, made, err)
}

func (s server) get(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 64)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	found := payment{ID: id}
	err = s.db.QueryRow(r.Context(), "select merchant, reference, payer, amount, status, created_at from payments where id = $1", id).
		Scan(&found.Merchant, &found.Reference, &found.Payer, &found.Amount, &found.Status, &found.CreatedAt)
	answer(w, http.StatusOK, found, err)
}

func answer(w http.ResponseWriter, status int, body payment, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client disconnected
}

// noopAnswer is the complete answer of noop.
const noopAnswer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"status\":\"ok\"}"

// noop answers without parsing the request, so that it costs as little as possible.
func noop(ctx context.Context, o options) error {
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return unlessStopped(ctx, err)
		}
		go func() {
			defer func() { _ = conn.Close() }()
			_ = answerAll(conn) // the client disconnected
		}()
	}
}

// answerAll answers every request of a connection.
func answerAll(conn net.Conn) error {
	reader := bufio.NewReader(conn)
	for {
		length := 0
		for {
			line, err := reader.ReadSlice('\n')
			if err != nil {
				return err
			}
			if len(line) <= 2 {
				break
			}
			const name = "Content-Length: " // as the generator writes it
			if len(line) > len(name)+2 && string(line[:len(name)]) == name {
				if length, err = strconv.Atoi(string(line[len(name) : len(line)-2])); err != nil {
					return err
				}
			}
		}
		if _, err := reader.Discard(length); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if _, err := io.WriteString(conn, noopAnswer); err != nil {
			return err
		}
	}
}
